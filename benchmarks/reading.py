"""Reading speed and memory against scikit-learn's svmlight loader, each in a process of its own.

Run: ``python -m benchmarks.reading [FILE.svm.gz]``; without a file, one of the EUR-Lex shape is
generated. The peer needs a file that it can parse: labels first, ids from 0, counts.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.common import Row

OURS, PEER = "deplda.read_corpus", "sklearn load_svmlight_file"
READERS = {
    OURS: (
        "from deplda import read_corpus",
        "corpus = read_corpus(path); n = corpus.counts.nnz",
    ),
    "deplda.read_shards, 1,000 documents": (
        "from deplda import read_shards",
        "n = sum(shard.counts.nnz for shard in read_shards(path, 1000))",
    ),
    PEER: (
        "from sklearn.datasets import load_svmlight_file",
        "n = load_svmlight_file(path, multilabel=True, zero_based=True)[0].nnz",
    ),
}
GENERATE = """
import gzip, sys
from benchmarks.power_law import power_law
corpus = power_law(int(sys.argv[2]))
with gzip.open(sys.argv[1], "wt") as file:
    for row in range(len(corpus)):
        document = corpus[[row]]
        pairs = zip(document.counts.indices, document.counts.data)
        labels = ",".join(map(str, document.labels.indices))
        print(labels, *(f"{word}:{count}" for word, count in pairs), file=file)
"""
TEMPLATE = """
import json, resource, time, sys
path = sys.argv[1]
{setup}
wall, cpu = time.perf_counter(), time.process_time()
{read}
print(json.dumps({{
    "entries": int(n),
    "wall": time.perf_counter() - wall,
    "cpu": time.process_time() - cpu,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}}))
"""


def measure(setup: str, read: str, path: Path) -> dict[str, float]:
    code = TEMPLATE.format(setup=setup, read=read)
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def measure_all(
    file: Path | None, n_documents: int = 15_500
) -> tuple[str, dict[str, dict[str, float]]]:
    """Return the file's name and the figures of every reader."""
    with tempfile.TemporaryDirectory() as folder:
        if file is None:
            file = Path(folder) / "power_law.svm.gz"
            # In a process of its own: a child starts with its parent's peak of memory.
            arguments = [sys.executable, "-c", GENERATE, str(file), str(n_documents)]
            subprocess.run(arguments, check=True)
        return file.name, {name: measure(*code, file) for name, code in READERS.items()}


def rows(quick: bool) -> list[Row]:
    """Return our CPU time of reading a generated svmlight file beside scikit-learn's."""
    _, results = measure_all(None, 1_500 if quick else 15_500)
    ours, theirs = (results[name] for name in (OURS, PEER))
    what = f"reading svmlight, {theirs['entries'] / 1e6:.1f} M entries"
    return [Row(what, ours["cpu"], "scikit-learn load_svmlight_file", theirs["cpu"], "s", "less")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?")
    name, results = measure_all(parser.parse_args().file)
    peer = results[PEER]
    table = Table("reader", title=f"reading {name}: {peer['entries']:,} entries")
    for column in ("wall s", "CPU s", "peak MB", "time ÷ peer"):
        table.add_column(column, justify="right")
    for name, figures in results.items():
        table.add_row(
            name,
            f"{figures['wall']:.2f}",
            f"{figures['cpu']:.2f}",
            f"{figures['peak']:.0f}",
            f"{figures['cpu'] / peer['cpu']:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
