"""The process of Pulumi's Python host: connects to the engine, runs a folder's `__main__.py`, exits.

`python -m bench.host MONITOR ENGINE PROJECT STACK FOLDER`; the configuration is in PULUMI_CONFIG, as the engine gives it. The
steps are those of pulumi-language-python-exec, which comes with Pulumi's CLI and not with its SDK. Imports nothing else, so that
the process costs what the ordinary CLI's costs.
"""

import asyncio
import os
import runpy
import sys
from concurrent.futures import ThreadPoolExecutor

import pulumi
import pulumi.runtime


def _program() -> None:
    runpy.run_path("__main__.py", run_name="__main__")


def main(monitor: str, engine: str, project: str, stack: str, folder: str) -> None:
    """Run the program in a folder to its end."""
    os.chdir(folder)
    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), [])
    addresses = {"monitor": monitor, "engine": engine, "project": project, "stack": stack}
    pulumi.runtime.configure(pulumi.runtime.Settings(**addresses, parallel=16, dry_run=False))  # type: ignore[arg-type]
    sys.path[0] = ""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    executor = ThreadPoolExecutor(max_workers=64)
    loop.set_default_executor(executor)
    loop.run_until_complete(pulumi.runtime.run_in_stack(_program))
    executor.shutdown(wait=True)
    loop.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
