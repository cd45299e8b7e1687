"""Users see that kernels are compiled, once, and where."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = """
import sys
from multiprocessing import get_context
import numpy as np
from deplda.kernels import compilation

def compile_kernel():
    from deplda.kernels.random import document_key, own_stream
    document_key(np.array([1]), np.array([1]))
    own_stream(np.uint64(1), np.uint64(2), 3)

compilation.DELAY = 0.0
if __name__ == "__main__":
    if sys.argv[1] == "worker":
        with get_context("spawn").Pool(1) as pool:
            pool.apply(compile_kernel)
    else:
        compile_kernel()
        print(compilation.cache_folder())
"""


@pytest.mark.parametrize("where", ["here", "worker"])
def test_a_process_says_once_that_it_compiles_and_workers_do_not(
    tmp_path: Path, where: str
) -> None:
    (tmp_path / "run.py").write_text(RUN)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(tmp_path / "run.py"), where]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    first, second = run(), run()
    message = "Compiling numerical code; once per installation, about half a minute\n"
    assert first.stderr == (message if where == "here" else "")
    assert second.stderr == ""
    if where == "here":
        assert Path(second.stdout.strip()).is_relative_to(tmp_path / "cache")
    assert [*(tmp_path / "cache").rglob("random.document_key*.nbi")]
