"""An emulated GPU: .cu sources built by the C++ compiler, to be tested on any machine."""

import ctypes
import re
import shutil
import subprocess
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from deplda import Corpus
from deplda.inference.batches import infer
from deplda.inference.layout import Tables
from deplda.inference.settings import Inference
from deplda.kernels.cuda import device
from deplda.kernels.cuda.device import Gpu, text_of

_HERE = Path(__file__).parent
SOURCES = sorted(path.stem for path in device.SOURCES.glob("*.cu"))
COMPILER = shutil.which("g++") if sys.platform == "linux" else None


class EmulatedGpu(Gpu):
    """Arrays are NumPy's, and kernels run thread by thread."""

    def __init__(
        self, folder: Path, room: int = 1 << 30, changed: tuple[str, str] = ("", "")
    ) -> None:
        """Make one with so much room; `changed` puts a mistake into the sources."""
        super().__init__()
        assert any(changed[0] in text_of(source) for source in SOURCES)
        self._folder, self._room, self._changed = folder, room, changed

    xp = SimpleNamespace(**{name: getattr(np, name) for name in np.__all__})

    def put(self, array: Any) -> Any:
        return np.array(array)

    def get(self, array: Any) -> Any:
        return np.asarray(array)

    def address(self, array: Any) -> int:
        return int(array.ctypes.data)

    def function(self, source: str, kernel: str) -> Any:
        text = text_of(source)
        if self._changed[0]:
            text = text.replace(*self._changed)
        function = getattr(_built(self._folder, text), f"emulated_{kernel}")

        def run(grid: tuple[int, ...], block: tuple[int], arguments: tuple[Any, ...]) -> None:
            held = [_as_c(argument) for argument in arguments]
            pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(each) for each in held))
            function(*(*grid, 1)[:2], block[0], pointers)

        return run

    def free(self) -> int:
        return self._room


def _as_c(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return ctypes.c_void_p(value.ctypes.data)
    kinds = {np.int32: ctypes.c_int32, np.uint64: ctypes.c_uint64, np.float64: ctypes.c_double}
    return kinds[type(value)](value.item())


@cache
def _built(folder: Path, text: str) -> ctypes.CDLL:
    names = re.findall(r"__global__ void (?:__launch_bounds__\(.*?\) )?(\w+)\(", text)
    ends = "".join(
        f'extern "C" void emulated_{name}(unsigned x, unsigned y, unsigned n, void **given)\n'
        f"{{ launch<&{name}>(x, y, n, given); }}\n"
        for name in names
    )
    source = folder / f"{names[0]}-{blake2b(text.encode(), digest_size=8).hexdigest()}.cpp"
    source.write_text(f'#include "{_HERE / "emulator.h"}"\n{text}{ends}', encoding="utf-8")
    library = source.with_suffix(".so")
    options = ["-std=c++17", "-O2", "-shared", "-fPIC", "-U_FORTIFY_SOURCE", "-w"]
    subprocess.run([str(COMPILER), *options, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def emulated(folder: Path, **options: Any) -> EmulatedGpu:
    """Return an emulated GPU, or skip the test where none can be built."""
    if COMPILER is None:
        pytest.skip("no C++ compiler is there to emulate a GPU with")
    return EmulatedGpu(folder, **options)


def use(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have device="cuda" mean this GPU."""
    monkeypatch.setattr(device, "problem", lambda: None)
    monkeypatch.setattr(device, "_gpu", lambda: gpu)


def more(gpu: Gpu, few: int, many: int) -> int:
    """Return how many chains to run: few where each takes its time."""
    return few if isinstance(gpu, EmulatedGpu) else many


def one(corpus: Any, tables: Tables, inference: Inference, **how: Any) -> Any:
    """Return what device="cuda" infers of some documents, one batch."""
    found = list(infer(Corpus(corpus, np.zeros((len(corpus), tables.n_ranked))), tables, inference,
                       device="cuda", **how))  # fmt: skip
    return found[0]
