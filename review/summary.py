"""The summary of one stack: the cells of its line."""

from review.model import StackReport, Status
from review.pools import drifting
from sandbox.engine.changes import Change, Level, Op

LOUD = (Op.REPLACE, Op.DELETE)
"""Operations that end something that runs."""

STATUS = {
    Status.UNCHANGED: "unchanged",
    Status.PREVIEWED: "previewed",
    Status.NEW: "new",
    Status.REMOVED: "its stack file is missing; nothing is deleted before `pulumi destroy`",
    Status.FAILED: "**cannot be previewed**",
}


def has_details(stack: StackReport) -> bool:
    """Return whether the stack needs more than its line in the table."""
    details = (stack.changes, stack.violations, stack.warnings, stack.errors, stack.release_changes)
    return any(details) or stack.status not in (Status.UNCHANGED, Status.PREVIEWED)


def is_loud(change: Change) -> bool:
    """Return whether a change ends something that runs."""
    return change.op in LOUD or bool(drifting(change))


def urgency(stack: StackReport) -> int:
    if stack.status == Status.FAILED:
        return 0
    if any(map(is_loud, stack.changes)):
        return 1
    return 2 if has_details(stack) else 3


def count(stack: StackReport, op: Op) -> str:
    number = sum(change.op == op for change in stack.changes)
    if not number:
        return "" if stack.status in (Status.UNCHANGED, Status.FAILED, Status.REMOVED) else "0"
    return f"**{number:,}**" if op in LOUD else f"{number:,}"


def policy(stack: StackReport) -> str:
    by_level = {level: sum(broken.level == level for broken in stack.violations) for level in Level}
    parts = [
        f"{by_level[level]:,} {level.value}"
        for level in (Level.MANDATORY, Level.ADVISORY)
        if by_level[level]
    ]
    return f"**{', '.join(parts)}**" if by_level[Level.MANDATORY] else ", ".join(parts)
