"""Kernels: arrays in, arrays out; the only place that imports numba."""

import atexit
import os
import shutil
import tempfile

import numba
from numba.core import event

from deplda.kernels.compilation import Notice


def _use_a_writable_cache() -> None:
    """Let numba cache in a private temporary folder if it can cache nowhere else."""
    try:
        numba.njit(cache=True)(_use_a_writable_cache)
    except RuntimeError:  # neither this package's folder nor the user's can be written
        # Its files are pickles: no folder that another user could have made.
        folder = tempfile.mkdtemp(prefix="deplda-numba-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["NUMBA_CACHE_DIR"] = folder
        numba.config.reload_config()


_use_a_writable_cache()
event.register("numba:compile", Notice())
