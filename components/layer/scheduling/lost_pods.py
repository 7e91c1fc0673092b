"""Marks on pods that say what the loss of one pod does to their job, read from the job's own
settings.

No field of a pod shows it, so the defaults (`components.layer.scheduling.defaults`) need a mark: a
label of the pod templates (`config.placement.pods.IF_LOST`).

- `ends-job`: the loss of one pod ends the job for good, so its pods are of the kind `other`.
- `restarted`: a leader without followers, such as the master of a PyTorchJob without workers, counts as a worker.

An existing mark stays. Marks need Kubernetes 1.36; a warning at the job does not.
"""

from __future__ import annotations

from string import Template

import pulumi_kubernetes as k8s

from components.layer import cel, names
from components.layer.part import Inside, Part
from components.layer.policies import Mutating, Resources, Validating, declare, mutating, validating
from components.layer.scheduling import workload_kinds
from components.layer.scheduling.defaults import profiles
from components.layer.scheduling.guard_rules import ACTIONS
from config.model.scheduling import Placement, Scheduling
from config.placement.node_pools import GPU_TAINT
from config.placement.pods import ENDS_JOB, IF_LOST, PLACEMENT_LABEL, RESTARTED
from config.placement.roles import LEADER

ROLE = "lost-pods"

RESOURCES: Resources = {
    "batch": ["jobs"],
    "batch.volcano.sh": ["jobs"],
    "jobset.x-k8s.io": ["jobsets"],
    "kubeflow.org": ["jaxjobs", "mpijobs", "paddlejobs", "pytorchjobs", "tfjobs", "xgboostjobs"],
}
"""Kinds of jobs whose settings say what becomes of a lost pod."""

# kubernetes.io/docs/concepts/workloads/controllers/job, "Pod failure policy": the first rule that
# matches decides. An evicted pod has the condition DisruptionTarget; its containers may end by
# SIGTERM (143) or SIGKILL (137).
_ACTION = """\
$job.?podFailurePolicy.?rules.orValue([]).filter(r,
  r.?onPodConditions.orValue([]).exists(c, c.type == 'DisruptionTarget')
  || r.?onExitCodes.optMap(codes,
       [137, 143].exists(code, (codes.operator == 'In') == (code in codes.values))).orValue(false)
)[?0].?action.orValue('Count')"""
# A list of one names the action. Kubernetes has filled in the default backoffLimit of a Job, but
# not of a JobSet's template.
_JOB_ENDS = Template(f"""\
[{_ACTION}].exists(action, action in ['FailJob', 'FailIndex'] || (action == 'Count'
  && ($job.?backoffLimitPerIndex.orValue(1) == 0 || $job.?backoffLimit.orValue(6) == 0)))""")

# pkg/controllers/failure_policy.go (JobSet 0.10.1): without a policy a set fails with its first
# failed Job. With one the first rule that matches the Job's name and reason decides; otherwise the
# set starts again up to `maxRestarts` times.
_REASON = f"""\
[{Template(_ACTION).substitute(job="j.template.spec")}].map(action, action == 'FailJob' ? 'PodFailurePolicy' :
  action == 'FailIndex' || has(j.template.spec.backoffLimitPerIndex) ? 'FailedIndexes' : 'BackoffLimitExceeded')[0]"""
_SET_ENDS = f"""\
object.spec.replicatedJobs.exists(j, (object.spec.replicatedJobs.size() == 1 || !j.name.matches({cel.value(LEADER)}))
  && ({_JOB_ENDS.substitute(job="j.template.spec")})
  && (!has(object.spec.failurePolicy) || [object.spec.failurePolicy.?rules.orValue([]).filter(r,
       ({_REASON} in r.?onJobFailureReasons.orValue([]) || r.?onJobFailureReasons.orValue([]).size() == 0)
       && (j.name in r.?targetReplicatedJobs.orValue([]) || r.?targetReplicatedJobs.orValue([]).size() == 0)
     )[?0].?action.orValue('RestartJobSet')].exists(action, action == 'FailJobSet'
       || (action == 'RestartJobSet' && object.spec.failurePolicy.?maxRestarts.orValue(0) == 0))))"""

_REPLICAS = "object.spec[variables.replicas]"


def _policies(default: str, condition: str) -> str:
    """Return the test whether the restart policy of any replicas but leaders is such."""
    leads = f"{_REPLICAS}.size() > 1 && role.lowerAscii().matches({cel.value(LEADER)})"
    policy = f"{_REPLICAS}[role].?restartPolicy.orValue('{default}')"
    return f"{_REPLICAS}.exists(role, !({leads}) && {policy} {condition})"


# pkg/controller.v1/*/*_controller.go and pkg/apis/kubeflow.org/v1/*_defaults.go (Training Operator
# 1.9.3): a lost pod ends a TFJob, but for its dynamic workers; an XGBoostJob makes it again under
# ExitCode alone. An MPIJob's launcher fails with its workers. In mpi-operator it is a Job, and
# starts again (pkg/controller/mpi_job_controller.go).
_REPLICAS_END = f"""\
object.spec.?runPolicy.?backoffLimit.orValue(6) == 0
|| (request.kind.kind == 'TFJob' ?
      !(object.spec.?enableDynamicWorker.orValue(false) && {_REPLICAS}.exists(role, role.lowerAscii() == 'worker')) :
    request.kind.kind in ['PyTorchJob', 'PaddleJob'] ? {_policies("OnFailure", "== 'Never'")} :
    request.kind.kind == 'JAXJob' ? {_policies("Never", "== 'Never'")} :
    request.kind.kind == 'XGBoostJob' ? {_policies("Never", "!= 'ExitCode'")} :
    request.kind.version == 'v1'
      && {_REPLICAS}.exists(role, {_REPLICAS}[role].?restartPolicy.orValue('Never') != 'ExitCode'))"""

# pkg/controllers/job (Volcano 1.12): without a policy a failed pod is not restarted.
_RESTARTS = """\
exists(r, r.action.startsWith('Restart')
  && (r.?events.orValue([]) + [r.?event.orValue('')]).exists(e, e in ['PodEvicted', 'PodFailed', '*']))"""
_VOLCANO_ENDS = f"""\
!object.spec.?policies.orValue([]).{_RESTARTS}
&& !object.spec.tasks.all(t, t.?policies.orValue([]).{_RESTARTS})"""

_SETS = "request.kind.kind == 'JobSet'"
_VOLCANO = "request.kind.group == 'batch.volcano.sh'"
_PLAIN = "request.kind.group == 'batch'"


def _template(at: str, template: str, role: str, alone: str, count: str) -> str:
    """Return a template with its pointer, its pods, and whether it leads or is alone."""
    leads = f"{role}.matches({cel.value(LEADER)})" if role else "false"
    entries = {"at": at, "is": template, "leads": leads, "alone": alone, "count": count}
    return "{" + ", ".join(f"{cel.value(key)}: dyn({text})" for key, text in entries.items()) + "}"


def _listed(items: str, below: str, count: str) -> str:
    """Return the templates of a list with named items. `count`: of an item `$item`."""
    item = f"object.spec.{items}[i]"
    pointer = f"'/spec/{items}/' + string(i) + '/{below.replace('.', '/')}'"
    alone = f"object.spec.{items}.size() == 1 && {item}.name.matches({cel.value(LEADER)})"
    count = Template(count).substitute(item=item)
    one = _template(pointer, f"{item}.{below}", f"{item}.name", alone, count)
    return f"lists.range(object.spec.{items}.size()).map(i, {one})"


_OF_REPLICAS = _template(
    "'/spec/' + variables.replicas + '/' + role + '/template'",
    f"{_REPLICAS}[role].template",
    "role.lowerAscii()",
    f"{_REPLICAS}.size() == 1 && {_REPLICAS}[role].?replicas.orValue(1) == 1",
    f"{_REPLICAS}[role].?replicas.orValue(1)",
)
_OF_A_SET = "$item.?replicas.orValue(1) * $item.template.spec.?parallelism.orValue(1)"
# The policy covers several kinds of jobs, so each variable tests the kind first.
_VARIABLES = {
    "replicas": "object.spec.filter(key, key.endsWith('ReplicaSpecs'))[?0].orValue('')",
    "templates": f"""\
{_PLAIN} ? [{_template("'/spec/template'", "object.spec.template", "", "false", "1")}] :
{_SETS} ? {_listed("replicatedJobs", "template.spec.template", _OF_A_SET)} :
{_VOLCANO} ? {_listed("tasks", "template", "$item.?replicas.orValue(1)")} :
{_REPLICAS}.map(role, {_OF_REPLICAS})""",
    "ends": f"""\
{_PLAIN} ? {_JOB_ENDS.substitute(job="object.spec")} :
{_SETS} ? {_SET_ENDS} :
{_VOLCANO} ? {_VOLCANO_ENDS} :
{_REPLICAS_END}""",
}
"""`ends`: whether the loss of one pod ends the job for good."""

# The owners of these Jobs are judged themselves, or the Jobs are no training.
_JUDGED = """\
!(has(object.metadata.ownerReferences)
  && object.metadata.ownerReferences.exists(o, o.kind in ['JobSet', 'MPIJob', 'RayJob']))"""

_MARK = f"{{{cel.value(IF_LOST)}: variables.ends ? {cel.value(ENDS_JOB)} : {cel.value(RESTARTED)}}}"
_KEY = IF_LOST.replace("/", "~1")

_PATCH = f"""\
variables.templates.filter(t, (t.alone || (variables.ends && !t.leads))
  && !(has(t.is.metadata) && has(t.is.metadata.labels) && {cel.value(IF_LOST)} in t.is.metadata.labels))
.map(t, !has(t.is.metadata) ? JSONPatch{{op: 'add', path: t.at + '/metadata', value: {{'labels': {_MARK}}}}} :
  !has(t.is.metadata.labels) ? JSONPatch{{op: 'add', path: t.at + '/metadata/labels', value: {_MARK}}} :
  JSONPatch{{op: 'add', path: t.at + '/metadata/labels/{_KEY}', value: {_MARK}[{cel.value(IF_LOST)}]}})"""


def policy(scheduling: Scheduling, instance: str) -> Mutating:
    """Return the policy that marks the pod templates of new jobs, and its binding."""
    return mutating(
        names.object_name(instance, ROLE),
        instance,
        profiles(scheduling),
        resources=RESOURCES,
        conditions={"not-of-another-job": _JUDGED},
        variables=_VARIABLES,
        patch=_PATCH,
    )


_PLACED = f"t.is.?metadata.?labels[?{cel.value(PLACEMENT_LABEL)}].orValue('')"

_REMEDY = f"""\
{_PLAIN} ? 'a backoffLimit above 0, or a podFailurePolicy that ignores DisruptionTarget' :
{_SETS} ? 'failurePolicy.maxRestarts above 0, or a backoffLimit above 0 in its Jobs' :
{_VOLCANO} ? 'policies that restart the job or its tasks on PodEvicted and PodFailed' :
object.spec.?runPolicy.?backoffLimit.orValue(6) == 0 ? 'runPolicy.backoffLimit above 0' :
request.kind.kind == 'TFJob' ? 'enableDynamicWorker: true' :
request.kind.kind in ['PyTorchJob', 'PaddleJob', 'JAXJob'] ? 'restartPolicy: OnFailure in its replicas' :
'restartPolicy: ExitCode in its replicas'"""


def warning(scheduling: Scheduling, instance: str) -> Validating:
    """Return the policy that warns of GPU jobs that the loss of one pod ends."""
    gpu = workload_kinds.asks_for_gpu("t.is.spec")
    survives = (
        f"!variables.ends || !variables.templates.exists(t, {_PLACED} != "
        f"{cel.value(Placement.ON_DEMAND)} && ({gpu}))"
    )
    if scheduling.defaults.other.gpu == Placement.ON_DEMAND:
        but = f"so its pods stay on demand unless a label {PLACEMENT_LABEL} asks for spot"
    else:
        but = (
            f"and its pods {scheduling.defaults.other.gpu} all the same, as "
            "scheduling.defaults.other says"
        )
    message = f"""\
'kubeflow-spot: ' + request.kind.kind + ' ' + {cel.NAME}
+ ' ends for good when it loses a pod, {but}; so that it '
+ 'survives, and prefers spot, write ' + variables.remedy"""
    return validating(
        names.object_name(instance, f"{ROLE}-notice"),
        instance,
        profiles(scheduling),
        resources=RESOURCES,
        operations=["CREATE"],
        failure="Ignore",
        conditions={"not-of-another-job": _JUDGED},
        variables={**_VARIABLES, "remedy": _REMEDY},
        validation=k8s.admissionregistration.v1.ValidationArgs(
            expression=survives, message_expression=message
        ),
        action="Warn",
    )


_GPUS = f"""\
variables.templates.map(t, int(t.count) * t.is.spec.containers.map(c,
  int(string(c.?resources.?limits[?{cel.value(GPU_TAINT.key)}].orValue('0')))).sum()).sum()"""

_WISH = f"namespaceObject.metadata.?labels[?{cel.value(PLACEMENT_LABEL)}].orValue('')"

# Volcano starts all of a job's pods or none, and Kueue takes back `suspend` when there is room for
# all of them.
_TOGETHER = f"""\
!({_PLAIN}) && !({_VOLCANO})
&& !object.spec.?suspend.orValue(false) && !object.spec.?runPolicy.?suspend.orValue(false)"""


def refusal(scheduling: Scheduling, instance: str, gpus: int) -> Validating:
    """Return the policy that refuses a job which ends with its first lost pod and never fits on
    demand, and its binding.

    Its pods need one another: those that fit would wait for the others for ever. `gpus`: all
    on-demand GPUs.
    """
    spot = cel.value([Placement.PREFER_SPOT.value, Placement.REQUIRE_SPOT.value])
    fits = f"""\
!variables.ends || variables.gpus <= {gpus}
|| variables.templates.exists(t, {_PLACED} in {spot}) || {_WISH} in {spot}"""
    message = f"""\
'kubeflow-spot guard, rule no-room: ' + request.kind.kind + ' ' + request.namespace + '/'
+ {cel.NAME}
+ ' ends for good when it loses a pod, so it stays on demand, and asks for ' + string(variables.gpus)
+ ' GPUs at once, where all on-demand pools of the stack together have {gpus}; write ' + variables.remedy
+ ', or the label {PLACEMENT_LABEL}: {Placement.PREFER_SPOT.value} on its pods'"""
    return validating(
        names.object_name(instance, f"guard-{ROLE}"),
        instance,
        profiles(scheduling),
        resources=RESOURCES,
        operations=["CREATE"],
        failure="Ignore",
        conditions={"not-of-another-job": _JUDGED, "all-at-once": _TOGETHER},
        variables={**_VARIABLES, "gpus": _GPUS, "remedy": _REMEDY},
        validation=k8s.admissionregistration.v1.ValidationArgs(
            expression=fits, message_expression=message, reason="Forbidden"
        ),
        action=ACTIONS[scheduling.guard.mode],
    )


class LostPods(Part):
    """The policies in the cluster. They deliberately change no job that exists."""

    def __init__(
        self,
        name: str,
        scheduling: Scheduling,
        inside: Inside,
        *,
        marks: bool,
        on_demand_gpus: int | None,
    ) -> None:
        """`marks`: whether the cluster has MutatingAdmissionPolicy. `on_demand_gpus`: None where
        other pools may have some.
        """
        super().__init__("kubeflow-spot:addons:LostPods", name, inside)
        if marks:
            declare(self, name, policy(scheduling, self.instance))
        declare(self, f"{name}-notice", warning(scheduling, self.instance))
        # Without marks no job is kept off spot.
        if (
            marks
            and on_demand_gpus is not None
            and scheduling.defaults.other.gpu == Placement.ON_DEMAND
        ):
            declare(self, f"{name}-guard", refusal(scheduling, self.instance, on_demand_gpus))
        self.register_outputs({})
