"""When each piece of work may first have a pod."""

from __future__ import annotations

from collections import defaultdict

from drill.world.record import Pod, Record, Work


def turns(record: Record) -> dict[str, float]:
    """The moment at which the first pod of each piece of work was due, by the pod's name.

    A Job with fewer pods at once than pieces gives the next piece its turn when one has ended.
    """
    first: dict[str, Pod] = {}
    for pod in sorted(record.pods, key=lambda pod: pod.created):
        first.setdefault(pod.work, pod)
    groups: dict[str, list[Work]] = defaultdict(list)
    for work in record.work:
        groups[work.name if work.needs is None else work.name.rpartition("/")[0]].append(work)
    found = {}
    for group in groups.values():
        ended = sorted(work.finished for work in group if work.finished is not None)
        begun = sorted(
            (work for work in group if work.name in first),
            key=lambda work: first[work.name].created,
        )
        for number, work in enumerate(begun):
            pod = first[work.name]
            before = number - (len(group) if work.at_once is None else work.at_once)
            turn = (
                work.submitted
                if before < 0
                else ended[before]
                if before < len(ended)
                else pod.created
            )
            found[pod.name] = min(pod.created, max(work.submitted, turn))
    return found
