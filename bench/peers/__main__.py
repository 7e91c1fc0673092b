"""`python -m bench.peers [ROUNDS]`: the program beside its peers, in previews that change nothing and in CPU time.

Nothing is built here: run `make up` once before.
"""

import os
import sys
import tempfile
from functools import partial

from bench.figures import Figures, seconds
from bench.peers import PEERS
from bench.peers.compared import preview_figures, program_figures

ROUNDS = 11


def main(rounds: int = ROUNDS) -> None:
    """Measure and print."""
    figures = Figures()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "SANDBOX_HOME": home}
        for stack in PEERS:
            run = partial(seconds, sys.executable, "-m", "sandbox", environment=environment)
            run("up", "--stack", stack)
            try:
                preview_figures(stack, rounds, environment, figures)
            finally:
                run("down", "--force", "--stack", stack)
    program_figures(rounds, figures)
    figures.print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
