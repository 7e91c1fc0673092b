"""The program compared with its peers: previews that change nothing, and CPU time."""

import sys
from functools import partial

from bench import program, whole
from bench.figures import Figures, seconds
from bench.peers import PEERS

ALIAS_ROUNDS = 25


def preview_figures(stack: str, rounds: int, environment: dict[str, str], figures: Figures) -> None:
    """Measure a stack's preview in turns with that of its peer; the stack is up."""
    peer = PEERS[stack]

    run = partial(seconds, sys.executable, "-m", "sandbox", environment=environment)
    of_peer = ("--cwd", str(peer.folder), "--stack", peer.name)
    own = partial(run, "preview", "--json", "--stack", stack)
    without, other = (
        partial(own, "--no-policy-pack"),
        partial(run, "preview", "--json", "--expect-no-changes", *of_peer),
    )
    run("up", *of_peer)
    try:
        for command in (own, without, other):
            command()  # compiles what has no bytecode yet
        turns = [(own(), without(), other()) for _ in range(rounds)]
    finally:
        run("down", "--force", *of_peer)
    figures.add(f"{stack}: preview, no change", [turn[0] for turn in turns], "s", 2)
    figures.add(f"{stack}: the same without policies", [turn[1] for turn in turns], "s", 2)
    figures.add(f"{stack}: its peer's preview", [turn[2] for turn in turns], "s", 2)
    figures.add(f"{stack}: its preview / its peer's", [turn[0] / turn[2] for turn in turns], "x", 2)
    figures.add(f"{stack}: without policies / its peer's", [turn[1] / turn[2] for turn in turns], "x", 2)


def program_figures(rounds: int, figures: Figures) -> None:
    """Measure the CPU time of the programs' processes, and of the parts of ours."""
    for stack, turns in whole.beside_peers(tuple(PEERS), rounds).items():
        figures.add(f"program, {stack}: whole process incl. exit (CPU)", [own for own, _ in turns], "s", 2)
        figures.add(f"program, {stack}: its peer's (CPU)", [other for _, other in turns], "s", 2)
        figures.add(f"program, {stack}: its own / its peer's (CPU)", [own / other for own, other in turns], "x", 2)
    for stack in PEERS:
        splits = program.stack(stack, rounds)
        for part in splits[0]:
            figures.add(f"program, {stack}: {part} (CPU)", [split[part][program.CPU] for split in splits], "s", 3)
        for clock, name in ((program.CPU, "CPU"), (program.WALL, "wall")):
            total = [sum(part[clock] for part in split.values()) for split in splits]
            figures.add(f"program, {stack}: all of it ({name})", total, "s", 2)
        alone = [split[program.PULUMI][program.CPU] for split in splits]
        ratios = [sum(part[program.CPU] for part in s.values()) / own for s, own in zip(splits, alone, strict=True)]
        figures.add(f"program, {stack}: all of it / import of Pulumi (CPU)", ratios, "x", 1)
        aliases = [1000 * spent for spent in program.aliases(stack, ALIAS_ROUNDS)]
        figures.add(f"program, {stack}: of that, aliases (CPU)", aliases, "ms", 1)
