"""A report as one Markdown page for a pull request's reviewers on GitHub, the worst changes first.

No report is trusted: its texts go through `review.harmless`, its numbers through a format, and its
commands are shown only when this program could have written them. A page that is too long loses
whole parts, and texts are cut before they are made harmless: no tag and no row is ever cut.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from review import cost, drill, pools
from review.detail import Detail, details
from review.excerpt import differing
from review.harmless import block, code, text
from review.model import Cost, ReplacedPool, Report, StackReport, Status
from review.pieces import folded, joined, short, table
from review.summary import LOUD, STATUS, count, has_details, is_loud, policy, urgency
from sandbox.engine.changes import Change, Level, Op, Property, Violation

LONGEST = 65_536
"""Characters of a comment. GitHub refuses more: "Body is too long (maximum is 65536 characters)"
(telia-oss/github-pr-resource issue 259). It does not say what a character is; here they are counted
as JavaScript does, where some count twice."""

_ORDER = (Op.REPLACE, Op.DELETE, Op.CREATE, Op.UPDATE)
_URL = re.compile(r"https://[A-Za-z0-9._~/?=&%#:+-]{1,2000}")

_Item = TypeVar("_Item")


def render(report: Report, *, longest: int = LONGEST, pointer: str = "") -> str:
    """Return the page, of at most `longest` characters; `pointer` is the https URL of the whole
    report."""
    for number, detail in enumerate(details()):
        with suppress(_TooLongError):
            page = _Page(report, detail, longest, pointer, cut=number > 0).drawn()
            if _length(page) <= longest:
                return page
    return "The report of what this changes is too long for this place."[:longest]


def _length(page: str) -> int:
    return len(page.encode("utf-16-le", "surrogatepass")) // 2


class _TooLongError(Exception):
    """The page is already longer than fits."""


class _Page:
    def __init__(
        self, report: Report, detail: Detail, longest: int, pointer: str, *, cut: bool
    ) -> None:
        self.report, self.detail, self.pointer, self.cut = report, detail, pointer, cut
        self.left = longest

    def drawn(self) -> str:
        stacks = sorted(self.report.stacks, key=urgency)
        against = (
            f"Compared with {self._code(self.report.base)}, at {self._code(self.report.head)}."
        )
        if not stacks:
            return f"There is no stack. {against}\n"
        if not any(map(has_details, stacks)):
            names = self._listed(stacks, lambda stack: self._code(stack.stack))
            return f"No stack changes: {names}. {against}\n"
        parts = [
            "## What this changes in each stack",
            against,
            f"Shortened to what fits: {self._whole()}." if self.cut else "",
            self._summary(stacks),
            *(self._stack(stack) for stack in stacks[: self.detail.stacks] if has_details(stack)),
        ]
        return joined(*parts) + "\n"

    # Every stack in one line

    def _summary(self, stacks: Sequence[StackReport]) -> str:
        rows = [
            [
                self._code(stack.stack),
                STATUS[stack.status],
                *(count(stack, op) for op in (Op.CREATE, Op.UPDATE, Op.REPLACE, Op.DELETE)),
                policy(stack),
                self._monthly(stack.cost) if stack.cost else "",
            ]
            for stack in stacks[: self.detail.stacks]
        ]
        heads = ["stack", "", "create:", "update:", "replace:", "delete:", "policy", "cost a month"]
        return joined(table(heads, rows), self._more(len(stacks) - len(rows), "stacks"))

    # One stack

    def _stack(self, stack: StackReport) -> str:
        parts = [
            f"### {self._code(stack.stack)}",
            self._alarm(stack),
            pools.SWITCH if stack.switches else "",
            *(
                self._spent(block(short(error, self.detail.error)))
                for error in stack.errors[: self.detail.loud]
            ),
            self._more(len(stack.errors) - self.detail.loud, "errors"),
            self._release(stack),
            self._pools(stack.replaced_pools),
            self._changes(stack.changes),
            self._values(stack.changes),
            self._own(stack.own_properties),
            self._violations(stack.violations),
            self._cost(stack),
            self._drill(stack.drill),
            self._warnings(stack.warnings),
        ]
        return joined(*parts)

    def _alarm(self, stack: StackReport) -> str:
        """Return a GitHub alert (docs.github.com "Basic writing and formatting syntax",
        "Alerts")."""
        if stack.status == Status.FAILED:
            return "> [!CAUTION]\n> It cannot be previewed."
        lost = {op: [change for change in stack.changes if change.op == op] for op in LOUD}
        drifting = [change for change in stack.changes if pools.drifting(change)]
        broken = list(
            dict.fromkeys(rule.policy for rule in stack.violations if rule.level == Level.MANDATORY)
        )
        sentences = [
            f"**{word}** {self._listed(things, lambda change: self._code(change.name))}."
            for word, things in (
                ("Replaces", lost[Op.REPLACE]),
                ("Replaces the nodes of", drifting),
                ("Deletes", lost[Op.DELETE]),
            )
            if things
        ]
        if broken:
            # The engine stops at a resource that breaks a policy.
            refused = "which `up` refuses; changes of what depends on it may be missing here"
            sentences.append(f"**Breaks** {self._listed(broken, self._code)}, {refused}.")
        return "> [!WARNING]\n> " + "<br>\n> ".join(sentences) if sentences else ""

    def _release(self, stack: StackReport) -> str:
        before, after = stack.release
        if before == after and not stack.release_changes:
            return ""
        named = [
            self._code(release) for release in dict.fromkeys(stack.release) if release is not None
        ]
        head = f"**Release** {' → '.join(named)}"
        return "\n".join([head, "", *self._items(stack.release_changes, self._text)]).rstrip()

    def _pools(self, replaced: Sequence[ReplacedPool]) -> str:
        if not replaced:
            return ""
        shown = replaced[: self.detail.loud]
        # A reviewer will paste these commands: only this program's own are shown.
        looks = [pool.look for pool in shown if pools.ours(pool.look)]
        parts = [
            "**Pools that lose all their nodes**",
            "\n".join(map(self._pool, shown)),
            self._more(len(replaced) - len(shown), "pools"),
            folded("Commands that list what really runs there", block("\n".join(looks)))
            if looks
            else "",
        ]
        return joined(*parts)

    def _pool(self, pool: ReplacedPool) -> str:
        because = f", because of {self._listed(pool.why, self._code)}" if pool.why else ""
        runs = " ".join(self._text(sentence) for sentence in pool.runs[: self.detail.rows])
        return f"- {self._code(pool.pool)}, {self._text(pool.nodes)} nodes{because}. {runs}"

    def _changes(self, changes: Sequence[Change]) -> str:
        if not changes:
            return ""
        rows = self._kept(changes)
        heads = ["", "resource", "type", "properties that change"]
        drawn = [
            [
                f"**{change.op.value}**" if change.op in LOUD else change.op.value,
                self._code(change.name),
                self._code(change.type),
                self._properties(change.properties),
            ]
            for change in rows
        ]
        return joined(table(heads, drawn), self._more(len(changes) - len(rows), "resources"))

    def _kept(self, changes: Sequence[Change]) -> list[Change]:
        ordered = sorted(changes, key=lambda change: _ORDER.index(change.op))
        loud = [change for change in ordered if is_loud(change)][: self.detail.loud]
        return loud + [change for change in ordered if not is_loud(change)][: self.detail.rows]

    def _properties(self, properties: Sequence[Property]) -> str:
        first = sorted(properties, key=lambda changed: not changed.replaces)
        return self._listed(
            first,
            lambda changed: (
                f"**{self._code(changed.path)}**" if changed.replaces else self._code(changed.path)
            ),
            self.detail.properties,
        )

    def _values(self, changes: Sequence[Change]) -> str:
        if not self.detail.value:
            return ""
        rows = [
            [
                self._code(change.name),
                self._code(changed.path),
                *map(self._value, differing(changed.before, changed.after)),
            ]
            for change in self._kept(changes)
            for changed in change.properties
        ]
        if not rows:
            return ""
        return folded(
            "Values before and after", table(["resource", "property", "before", "after"], rows)
        )

    def _own(self, properties: Sequence[Property]) -> str:
        """Return what the stack file says in its cloud's own words, the edits first."""
        if not properties or not self.detail.value:
            return ""
        edits = [each for each in properties if each.before != each.after]
        same = [each for each in properties if each.before == each.after]
        rows = [
            [
                f"**{self._code(each.path)}**" if each in edits else self._code(each.path),
                *map(self._value, (each.before, each.after)),
            ]
            for each in [*edits, *same][: self.detail.rows]
        ]
        title = f"Properties in the cloud's own words: {len(properties):,}, {len(edits):,} changed"
        drawn = joined(
            table(["property", "before", "after"], rows),
            self._more(len(properties) - len(rows), "properties"),
        )
        return joined(f"**{title}**", drawn) if edits else folded(title, drawn)

    def _value(self, value: str | None) -> str:
        return "" if value is None else self._spent(code(short(value, self.detail.value)))

    def _violations(self, violations: Sequence[Violation]) -> str:
        if not violations:
            return ""
        first = sorted(violations, key=lambda broken: broken.level != Level.MANDATORY)
        rows = [
            [
                f"**{broken.level.value}**"
                if broken.level == Level.MANDATORY
                else broken.level.value,
                self._code(broken.policy),
                self._code(broken.resource) if broken.resource else "the stack",
                self._text(broken.message),
            ]
            for broken in first[: self.detail.rows]
        ]
        drawn = table(["policy", "", "resource", "what is wrong, and the remedy"], rows)
        return joined(drawn, self._more(len(first) - len(rows), "broken policies"))

    def _cost(self, stack: StackReport) -> str:
        if stack.cost is None:
            return ""
        priced, kept = stack.cost, stack.cost.pools[: self.detail.rows]
        rows = [
            [
                self._code(pool.pool),
                self._code(pool.machine),
                self._text(pool.capacity),
                *cost.hourly(pool),
            ]
            for pool in kept
        ]
        heads = ["machines of", "machine", "capacity", "before, an hour:", "after, an hour:"]
        drawn = [
            table(heads, [*rows, ["**all**", "", "", *cost.total(priced)]]),
            self._more(len(priced.pools) - len(kept), "pools"),
            f"In {self._text(priced.currency)}, from each pool's fewest to its most nodes."
            f" {cost.CAVEAT}",
            "\n".join(self._items(priced.sources, self._text)),
        ]
        return folded(f"Cost a month: {self._monthly(priced)}", joined(*drawn))

    def _drill(self, command: str) -> str:
        # A reviewer will paste it, as above.
        return f"{drill.HEAD}\n\n{self._spent(block(command))}" if drill.ours(command) else ""

    def _monthly(self, priced: Cost) -> str:
        before, after = cost.monthly(priced)
        shown = f"{after}, as before" if before == after else f"{before} → <b>{after}</b>"
        unpriced = sum(pool.unpriced for pool in priced.pools)
        apart = (
            f"; {unpriced:,} of {len(priced.pools):,} pools have no known price" if unpriced else ""
        )
        return f"{self._text(priced.currency)} {shown}{apart}"

    def _warnings(self, warnings: Sequence[str]) -> str:
        if not warnings:
            return ""
        return folded("Warnings", "\n".join(self._items(warnings, self._text)))

    # Pieces

    def _items(self, things: Sequence[_Item], shown: Callable[[_Item], str]) -> list[str]:
        kept = things[: self.detail.rows]
        more = self._more(len(things) - len(kept), "")
        return [f"- {shown(thing)}" for thing in kept] + ([f"- {more}"] if more else [])

    def _listed(self, things: Sequence[_Item], shown: Callable[[_Item], str], most: int = 0) -> str:
        kept = things[: most or self.detail.loud]
        more = f" and {len(things) - len(kept):,} more" if len(things) > len(kept) else ""
        return ", ".join(map(shown, kept)) + more

    def _more(self, number: int, things: str) -> str:
        return f"and {number:,} more {things}".rstrip() + f": {self._whole()}" if number > 0 else ""

    def _whole(self) -> str:
        linked = (
            f"[the artifact]({self.pointer})" if _URL.fullmatch(self.pointer) else "report.json"
        )
        return f"all of it is in {linked}"

    def _code(self, name: str) -> str:
        return self._spent(code(short(name, self.detail.name)))

    def _text(self, sentence: str) -> str:
        return self._spent(text(short(sentence, self.detail.sentence)))

    def _spent(self, drawn: str) -> str:
        # A report of many megabytes then takes no longer than one that fits.
        self.left -= len(drawn)
        if self.left < 0:
            raise _TooLongError
        return drawn
