"""``python -m deplda``: the command line, wherever the package can be imported."""

from deplda.cli import main

main()
