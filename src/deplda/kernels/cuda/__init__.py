"""The kernels on a CUDA card: .cu sources, and the functions that run them on arrays."""
