"""First of all: `sandbox` turns the bytecode cache on where the environment turns it off (see its docstring)."""

import sandbox as sandbox
