"""The command line: one verb a function; everything heavy is imported inside them.

`deplda --help` must stay instant, so this package imports nothing but click and the standard
library at its top.
"""

import os
import sys

from deplda.cli.compare import compare
from deplda.cli.datasets import datasets
from deplda.cli.evaluate import evaluate, tune
from deplda.cli.explain import explain
from deplda.cli.learn import learn
from deplda.cli.predict import predict
from deplda.cli.queue import queue
from deplda.cli.root import root
from deplda.cli.serve import serve
from deplda.cli.show import show_model
from deplda.cli.thesaurus import vocabulary
from deplda.cli.train import train
from deplda.cli.warm_up import warm_up

for verb in (train, learn, predict, queue, show_model, explain, evaluate, tune):
    root.add_command(verb)
for verb in (serve, datasets, vocabulary, compare, warm_up):
    root.add_command(verb)


def main() -> None:
    """Run the command line."""
    # Processes that it starts import nothing from the folder that it happens to be run in.
    os.environ.setdefault("PYTHONSAFEPATH", "1")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if stream is None:  # closed: no file that is opened later may get its number
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    root(prog_name="deplda")


__all__ = ["main", "root"]
