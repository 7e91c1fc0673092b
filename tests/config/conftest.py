"""No test here judges by the clock: on a busy machine hypothesis' deadline does."""

from hypothesis import settings

settings.register_profile("timeless", deadline=None)
settings.load_profile("timeless")
