"""`python -m sandbox`."""

from sandbox.cli.commands import main

main(prog_name="sandbox")
