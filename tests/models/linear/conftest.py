from tests.kernels.cuda.conftest import folder, gpu

__all__ = ["folder", "gpu"]
