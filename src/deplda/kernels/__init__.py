"""Kernels: arrays in, arrays out; the only place that imports numba."""

from numba.core import event

from deplda.kernels.compilation import Notice

event.register("numba:compile", Notice())
