"""The component host: the process that the engine starts for the package."""

import sys

from pulumi.provider import main

from components.package.provider import Package

main(Package(), sys.argv[1:])
