"""The real Pulumi engine over the unmodified program and the emulated clouds. `sandbox.engine.session` opens one.

The program runs inline: the engine asks this process for it, so no language-host plugin is needed. The engine's own state,
plugins and credentials are below the sandbox's home; the user's Pulumi is neither read nor written.
"""

import re
import sys
from collections.abc import Sequence

from pulumi.automation.errors import CommandError
from pulumi.automation.events import EngineEvent

from sandbox.base.checkpoint import Checkpoint
from sandbox.base.notices import Notify
from sandbox.engine.clouds import Clouds
from sandbox.engine.command import EngineCommand
from sandbox.engine.events import without_advice
from sandbox.engine.interrupted import Interrupted
from sandbox.engine.language_host import OnEvent

_PRODUCTION = re.compile(r"prod(uction)?([-_.].*)?")
"""Names of stacks in which policies are usually mandatory."""


class Engine:
    """One stack's engine, with its clouds attached."""

    def __init__(
        self,
        command: EngineCommand,
        clouds: Clouds,
        checkpoint: Checkpoint,
        interrupted: Interrupted,
        policies: Sequence[str],
    ) -> None:
        self.command, self.clouds, self._checkpoint, self._interrupted = command, clouds, checkpoint, interrupted
        self._policies = policies

    def up(
        self,
        on_output: Notify,
        on_event: OnEvent = lambda event: None,
        *,
        refresh: bool = False,
        continue_on_error: bool = False,
    ) -> dict[str, int]:
        """Declare the stack; returns the number of resources by operation. Raises `automation.errors.CommandError`.

        A preview comes first where a resource is protected or a policy may refuse one, as in the engine's own command: an
        update that must not happen then changes nothing. Elsewhere a preview would cost some seconds and prevent little.
        """
        options = [*self._options(refresh)]
        refusable = bool(self._policies) and _PRODUCTION.fullmatch(self.command.stack)
        if refusable or any(resource.get("protect") for resource in self._checkpoint.resources()):
            self._try_first("preview", *options, on_output=on_output, on_event=on_event)
        if continue_on_error:
            options.append("--continue-on-error")
        with self._interrupted.until_the_engine_ends():
            update = ("up", "--yes", "--skip-preview", "--suppress-outputs", *options)
            return self.command.run(*update, on_output=on_output, on_event=on_event)

    def preview(
        self, on_output: Notify, on_event: OnEvent, *, refresh: bool = False, expect_no_changes: bool = False
    ) -> None:
        """Show what an `up` would change. Raises `automation.errors.CommandError`, also for a change that is not expected."""
        expected = ["--expect-no-changes"] if expect_no_changes else []
        self.command.run("preview", *self._options(refresh), *expected, on_output=on_output, on_event=on_event)

    def destroy(self, on_output: Notify) -> None:
        """Delete everything the stack declared. Raises `automation.errors.CommandError`.

        A preview comes first, as in the engine's own command: a protected resource then keeps the others from being deleted.
        """
        self._try_first("destroy", "--preview-only", *_progress_options(), on_output=on_output)
        with self._interrupted.until_the_engine_ends():
            deletion = ("destroy", "--yes", "--skip-preview", *_progress_options())
            self.command.run(*deletion, on_output=without_advice(on_output))

    def _options(self, refresh: bool) -> list[str]:
        return [*_progress_options(), *self._policies, *(["--refresh"] if refresh else [])]

    def _try_first(self, *arguments: str, on_output: Notify, on_event: OnEvent = lambda event: None) -> None:
        """Preview a change, and print the preview only when it fails; of its events, only errors and policies count."""

        def keep_errors(event: EngineEvent) -> None:
            if event.diagnostic_event or event.policy_event:
                on_event(event)

        lines: list[str] = []
        try:
            self.command.run(*arguments, on_output=lines.append, on_event=keep_errors)
        except CommandError:
            for line in lines:
                on_output(line)
            raise


def _progress_options() -> list[str]:
    return ["--color", "always" if sys.stdout.isatty() else "never", "--suppress-progress"]
