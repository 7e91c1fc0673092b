"""Both emulated clouds."""

from sandbox.tests.engine_side import no_waiting_for_the_disk

__all__ = ["no_waiting_for_the_disk"]
