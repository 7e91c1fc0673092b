"""The autoscaler's counter, from the decisions of the sandbox's own autoscaler."""

from drill.metrics.failed_scale_ups import NAME, failed_scale_ups
from drill.play.scaling import event_of
from drill.world.record import Event
from sandbox.autoscaler.autoscaler_options import Options
from sandbox.autoscaler.behaviour import OF_CLOUD
from sandbox.autoscaler.registry import Registry
from sandbox.autoscaler.world import Decision
from sandbox.tests.autoscaler.objects import group

GPU = 'gpu_name="not-listed",gpu_resource_name="nvidia.com/gpu",'


def series(reason: str, labels: str = "") -> str:
    return f'{NAME}{{{labels}reason="{reason}"}}'


def test_reasons_that_the_program_knows_begin_at_zero() -> None:
    assert failed_scale_ups([], {"t4"}) == {
        series(reason): 0.0 for reason in ("cloudProviderError", "apiCallError", "timeout")
    }


def test_each_failure_is_counted_once_by_its_code() -> None:
    made: list[Decision] = []
    registry, now = Registry(Options()), 0.0
    registry.refused(now, group("t4", 8), "exceeding approved LowPriorityCores quota", made.append)
    registry.refused(now, group("general", 8), "SkuNotAvailable", made.append)
    registry.errored(now, group("t4", 8), OF_CLOUD["azure"].unmade, made.append)
    events = [event_of(decision) for decision in made] + [Event(0, "refused", "t4", "1 more: quota")]
    counted = {name: count for name, count in failed_scale_ups(events, {"t4"}).items() if count}
    assert counted == {
        series("cloudProviderError", GPU): 1,
        series("cloudProviderError"): 1,
        series("provisioning-state-failed", GPU): 1,
    }
