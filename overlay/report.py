"""The report of an installation: verdicts, pools, and what is wrong, as text or as one JSON
object."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from overlay.applying import Refusal, Stages, name
from overlay.observing import Observed
from overlay.render import Rendered

_SHOWN = 10
"""Lines of one kind of fault."""


@dataclass(frozen=True)
class Verdict:
    """One line of the report; `ok` is None where nothing is demanded."""

    name: str
    ok: bool | None
    measured: str


def _noted(name: str, ok: bool | None, things: Sequence[str]) -> list[Verdict]:
    """Return the line that lists some things; no line without any."""
    return [Verdict(name, ok, ", ".join(things))] if things else []


@dataclass(frozen=True)
class Report:
    """What became of an installation."""

    rendered: Rendered
    stages: Stages
    refused: Sequence[Refusal]
    observed: Observed
    seconds: float

    @property
    def verdicts(self) -> list[Verdict]:
        """The lines of the report, in its order."""
        seen, taken = self.observed, self.stages.count - len(self.refused)
        bound = [claim for claim in seen.claims if claim.bound]
        classes = sorted({claim.storage_class for claim in seen.claims})
        return [
            Verdict("Objects taken", not self.refused, f"{taken} of {self.stages.count}"),
            Verdict(
                "Refused",
                not self.refused and not seen.absent,
                str(len(self.refused) + len(seen.absent)),
            ),
            Verdict(
                "Pods running", seen.running == seen.wanted, f"{seen.running} of {seen.wanted}"
            ),
            Verdict(
                "Misplaced: not on an on-demand CPU node",
                not seen.misplaced,
                str(len(seen.misplaced)),
            ),
            Verdict("Pending", not seen.pending, str(len(seen.pending))),
            Verdict(
                "Datastores bound",
                len(bound) == len(seen.claims),
                f"{len(bound)} of {len(seen.claims)} claims"
                + (f", class {', '.join(classes)}" if classes else ""),
            ),
            # What the manifests bring, everybody can read.
            Verdict("Secrets with a public value", None, ", ".join(self._public) or "none"),
            *self._checkouts,
            Verdict("Components", None, ", ".join(self.rendered.components) or "none"),
            *_noted("Left out, Kubernetes is too old", None, self.rendered.left_out),
            Verdict(
                "Webhooks",
                None,
                f"{len(self.stages.webhooks)} configurations checked by a dry run and not in"
                f" force, {self.stages.conversions}"
                " conversions off: their servers do not run in the sandbox",
            ),
        ]

    @property
    def _checkouts(self) -> list[Verdict]:
        """Which checkouts are the versions that are asked for, and which could not be compared."""
        known = [
            f"{each.base.rpartition('/')[2]} {each.at}"
            for each in self.rendered.checkouts
            if each.at
        ]
        unknown = [each.base for each in self.rendered.checkouts if not each.at]
        return [
            *_noted("Checkouts of the version asked for", True, known),
            *_noted("Versions not compared: no git there", None, unknown),
        ]

    @property
    def _public(self) -> list[str]:
        """The Secrets that are applied with a value; what a controller fills has none."""
        secrets = [body for body in self.rendered.objects if body["kind"] == "Secret"]
        return [
            name(body).removeprefix("Secret ")
            for body in secrets
            if body.get("data") or body.get("stringData")
        ]

    @property
    def ok(self) -> bool:
        return all(verdict.ok is not False for verdict in self.verdicts)

    @property
    def faults(self) -> list[str]:
        """Each fault in a line: what and why."""
        seen = self.observed
        groups = (
            [f"refused: {each.what}: {each.why}" for each in (*self.refused, *seen.absent)],
            [f"misplaced: {each}" for each in seen.misplaced],
            [f"pending: {each.what}: {each.why}" for each in seen.pending],
            [
                f"not bound: claim {claim.what}, class {claim.storage_class}"
                for claim in seen.claims
                if not claim.bound
            ],
        )
        lines = []
        for group in groups:
            lines += group[:_SHOWN]
            if len(group) > _SHOWN:
                lines.append(f"and {len(group) - _SHOWN} more")
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the report for other programs."""
        return {
            "tag": self.rendered.tag,
            "ok": self.ok,
            "seconds": round(self.seconds, 1),
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
            "pools": [asdict(pool) for pool in self.observed.pools],
            "claims": [asdict(claim) for claim in self.observed.claims],
            "faults": self.faults,
        }

    def as_text(self) -> str:
        """Return the report for people."""
        words = {True: "holds", False: "FAILS", None: "note"}
        wide = max(len(verdict.name) for verdict in self.verdicts)
        lines = [f"kubeflow/manifests {self.rendered.tag}, applied in {self.seconds:.0f} s", ""]
        lines += [f"{words[v.ok]:<5}  {v.name:<{wide}}  {v.measured}" for v in self.verdicts]
        lines += ["", f"{'pool':<14}  {'nodes of it':<18}  nodes  pods  of DaemonSets"]
        lines += [
            f"{pool.name:<14}  {pool.kind:<18}  {pool.nodes:>5}  {pool.pods:>4}  {pool.agents:>13}"
            for pool in self.observed.pools
        ]
        return "\n".join([*lines, *(["", *self.faults] if self.faults else [])])
