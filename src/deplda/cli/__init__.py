"""The command line: one verb a function; everything heavy is imported inside them.

`deplda --help` must stay instant, so this package imports nothing but click and the standard
library at its top.
"""

from deplda.cli.app import root
from deplda.cli.data import datasets
from deplda.cli.experiments import demo, experiment, report
from deplda.cli.explaining import explain, info, topics, words
from deplda.cli.predicting import predict
from deplda.cli.serving import serve
from deplda.cli.training import evaluate, train

for verb in (train, predict, explain, evaluate, words, topics, info, serve):
    root.add_command(verb)
for verb in (datasets, experiment, report, demo):
    root.add_command(verb)


def main() -> None:
    """Run the command line."""
    root(prog_name="deplda")


__all__ = ["main", "root"]
