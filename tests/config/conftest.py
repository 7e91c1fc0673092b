"""No deadline for hypothesis: on a busy machine it fails tests by the clock."""

from hypothesis import settings

settings.register_profile("timeless", deadline=None)
settings.load_profile("timeless")
