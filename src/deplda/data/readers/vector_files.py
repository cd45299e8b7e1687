"""Vectors of documents in a file: NumPy's .npy, or .safetensors; no code in them is ever run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deplda.data.files import StrPath
from deplda.errors import InputError, ReadError


def read_vectors(path: StrPath) -> npt.NDArray[Any]:
    """Return the vectors of a file, documents × dimensions, left on disk as far as can be."""
    is_tensors = Path(path).suffix.lower() == ".safetensors"
    try:
        found = _tensor(path) if is_tensors else np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise ReadError(path, None, error.strerror or str(error)) from error
    except (ValueError, EOFError) as error:
        raise ReadError(path, None, f"this is no array of numbers in .npy ({error})") from error
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind not in "fiu":
        told = f"{found.dtype} in {found.ndim} dimensions" if hasattr(found, "ndim") else "no array"
        raise ReadError(path, None, f"it holds {told}; vectors are numbers, documents × dimensions")
    return found


def _tensor(path: StrPath) -> Any:
    """Return the only array of two dimensions."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            names = [name for name in file.keys() if len(file.get_slice(name).get_shape()) == 2]  # noqa: SIM118
            if len(names) != 1:
                told = ", ".join(names[:5]) or "none"
                raise InputError(f"it holds {len(names):,} arrays of two dimensions ({told})")
            return file.get_tensor(names[0])
    except (SafetensorError, InputError, TypeError) as error:
        raise ReadError(path, None, f"it must hold one array of vectors: {error}") from error
