"""The clouds that `ready` knows more of than Kubernetes says.

A further one is a module here and a line below.
"""

from __future__ import annotations

from checks.ready.clouds.azure import AZURE
from checks.ready.clouds.facts import CloudFacts
from checks.ready.clouds.gcp import GCP

CLOUDS: tuple[CloudFacts, ...] = (AZURE, GCP)
