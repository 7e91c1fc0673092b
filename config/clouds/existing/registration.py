"""An existing cluster on any cloud, as the registry has it."""

from __future__ import annotations

from config.clouds.existing.settings import Existing
from config.clouds.existing.traits import existing
from config.clouds.registry import Registration

REGISTRATION = Registration(
    provider="existing", settings=Existing, traits=existing, rules="config.clouds.existing.rules"
)
