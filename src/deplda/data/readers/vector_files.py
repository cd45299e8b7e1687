"""Vectors of documents in a file: NumPy's .npy, or .safetensors; no code in them is ever run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.data.files import StrPath
from deplda.errors import DepldaError, ReadError


def read_vectors(path: StrPath) -> npt.NDArray[Any]:
    """Return the vectors of a file, documents × dimensions, left on disk as far as can be."""
    is_tensors = Path(path).suffix.lower() == ".safetensors"
    try:
        found = _tensor(path) if is_tensors else _array(path)
    except DepldaError:
        raise
    except OSError as error:
        raise ReadError(path, None, error.strerror or str(error)) from error
    except Exception as error:
        # A damaged header makes NumPy and safetensors raise almost anything.
        kind = ".safetensors" if is_tensors else ".npy"
        raise ReadError(path, None, f"this is no array of numbers in {kind} ({error})") from error
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind not in "fiu":
        told = f"{found.dtype} in {found.ndim} dimensions" if hasattr(found, "ndim") else "no array"
        raise ReadError(path, None, f"it holds {told}; vectors are numbers, documents × dimensions")
    return found


def _array(path: StrPath) -> Any:
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":  # NumPy would take it for a zip file, or for a pickle
            raise ReadError(path, None, "this is no array of numbers in .npy; write it by np.save")
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _tensor(path: StrPath) -> Any:
    """Return the only array of two dimensions."""
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        names = [name for name in file.keys() if len(file.get_slice(name).get_shape()) == 2]  # noqa: SIM118
        if len(names) != 1:
            told = ", ".join(names[:5]) or "none"
            raise ReadError(
                path, None, f"it holds {len(names):,} arrays of two dimensions ({told}); keep one"
            )
        return file.get_tensor(names[0])
