"""The program of a project, run in this process as the engine's own Python host runs it."""

import gc
import importlib
import json
import runpy
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Thread

from pulumi import log

from sandbox.base.files import write_private

_MAIN = "__main__.py"


class Program:
    """The program in a folder. `learned` is the file with the names of the installed modules that the program imports.

    Those may be imported while the engine starts, which takes as long. The project's own modules may not: what they do at
    import may depend on the stack's settings, which the engine has.
    """

    def __init__(self, folder: Path, learned: Path) -> None:
        self._folder, self._learned = folder, learned
        self._preload = Thread(target=_import_all, args=[_names(learned)], daemon=True)

    def preload(self) -> None:
        """Begin to import the modules that the program imported in its last run without this."""
        self._preload.start()

    def __call__(self) -> None:
        """Run the program once."""
        preloaded = self._preload.ident is not None
        if preloaded:
            # The SDKs' lazy modules are not made for two threads.
            self._preload.join()
        # Some 200 000 objects of imported modules stay: searching them for garbage would take a tenth of the run.
        gc.freeze()
        # Each debug message is a request to the engine, 170 in a run, and the engine shows them only with an option that the
        # sandbox does not have.
        log.debug = lambda *arguments, **options: None
        before = set(sys.modules)
        # The project's folder first, then __main__.py.
        if str(self._folder) not in sys.path:
            sys.path.insert(0, str(self._folder))
        try:
            runpy.run_path(str(self._folder / _MAIN), run_name="__main__")
        finally:
            if not preloaded:
                imported = [name for name in sys.modules if name not in before]
                write_private(self._learned, json.dumps(list(_installed(imported))).encode())


def _names(learned: Path) -> list[str]:
    try:
        names: list[str] = json.loads(learned.read_text())
    except (FileNotFoundError, ValueError):
        return []
    return names


def _import_all(names: Iterable[str]) -> None:
    for name in names:
        package, _, part = name.rpartition(".")
        # The package may have changed. The program reports that where it needs the module.
        with suppress(Exception):
            # The question runs an SDK's lazy package, which imports its parts. One that is imported before the package runs would
            # stand in the place of the class or the function of its name.
            if not hasattr(sys.modules.get(package), part):
                importlib.import_module(name)


def _installed(names: Iterable[str]) -> Iterable[str]:
    """Yield the loaded modules that belong to installed packages."""
    paths = sysconfig.get_paths()
    folders = tuple({paths["purelib"], paths["platlib"]})
    for name in names:
        spec = getattr(sys.modules.get(name), "__spec__", None)
        if spec and spec.name == name and (spec.origin or "").startswith(folders):
            yield name
