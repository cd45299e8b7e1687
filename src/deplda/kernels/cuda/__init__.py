"""The kernels on a CUDA GPU: .cu sources, and the functions that run them on arrays."""
