"""The component package's provider: its schema, and its one component."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any, NoReturn

import pulumi
from pulumi.provider import ConstructResult, Provider

from components import references
from components.cluster import KubeflowCluster
from components.last_update import COMPONENT, LastUpdate
from components.layer import names
from components.output_types import ClusterOutputs
from components.package import inputs as arguments
from components.package import schema
from components.package.inputs import Arguments
from components.package.schema import REQUIRED, SETTINGS
from config.base.problems import Problem, report
from config.model.spec import ClusterSpec
from config.stack_file import loader

_INPUTS = "inputs"
"""Key of the remembered texts that other resources made."""


class Package(Provider):
    """Constructs clusters.

    It deliberately does not use the SDK's host for components (`pulumi.provider.experimental`), for
    whose classes every model of the stack file would have to be copied by hand (docs/adr/0013).
    """

    def __init__(self) -> None:
        number = version(schema.PACKAGE)
        super().__init__(number, json.dumps(schema.document(number, SETTINGS, REQUIRED)))

    def construct(
        self,
        name: str,
        resource_type: str,
        inputs: pulumi.Inputs,
        options: pulumi.ResourceOptions | None = None,
    ) -> ConstructResult:
        """Declare the component. Raise `pulumi.InputPropertiesError` with each wrong path."""
        if resource_type != schema.TOKEN:
            raise _refusal(f"{resource_type} is not in this package, which has {schema.TOKEN}")
        # The coroutine waits for the inputs.
        cluster: pulumi.Output[KubeflowCluster] = pulumi.Output.from_input(
            _cluster(name, inputs, options)
        )
        outputs = {
            key: cluster.apply(partial(_output, key)) for key in ClusterOutputs.__annotations__
        }
        return ConstructResult(cluster.apply(lambda declared: declared.urn), outputs)


def _output(key: str, cluster: KubeflowCluster) -> pulumi.Output[Any]:
    return pulumi.Output.from_input(cluster.outputs.get(key))


async def _cluster(
    name: str, inputs: pulumi.Inputs, options: pulumi.ResourceOptions | None
) -> KubeflowCluster:
    # A stack may have several components, and two of them may be in one cluster.
    instance = names.instance(f"{pulumi.get_stack()}/{name}")
    try:
        last = LastUpdate.read_outputs(name)
        given = await arguments.read_arguments(inputs, references.all_clouds(), last.get(_INPUTS))
        last = replace(last, exported={COMPONENT: name, _INPUTS: given.known()})
        return KubeflowCluster(
            name, _spec(given), instance=instance, last_update=last, opts=options
        )
    except pulumi.RunError as refused:
        # Without the class of the error before the message.
        raise _refusal(str(refused)) from None


def _spec(given: Arguments) -> ClusterSpec:
    if exposed := given.exposed():
        # A check could put such a value into a message.
        raise _refusal(report(exposed))
    unknown = {problem.path for problem in given.problems}
    made_up = {arguments.property_path(path) for path, link in given.links.items() if link.made_up}
    spec, file_problems = loader.read_stack(
        given.raw, pulumi.get_stack(), prefix="", is_secret=given.is_secret
    )
    problems = [
        *given.problems,
        *(problem for problem in file_problems if not _follows(problem, unknown)),
    ]
    for problem in problems:
        # A warning about a made-up text would be meaningless.
        if problem.warning and problem.path not in made_up:
            pulumi.log.warn(f"{problem}")
    errors = sorted(problem for problem in problems if not problem.warning)
    if errors or spec is None:
        _refuse(errors, given)
    return references.with_references(spec, given.links)


def _refuse(errors: Sequence[Problem], given: Arguments) -> NoReturn:
    """Raise `pulumi.InputPropertiesError`.

    The engine shows the value at each property's path, even a secret one: problems beside a secret
    go into the message.
    """
    secret = {path[0] for path in given.secret}
    hidden = [problem for problem in errors if re.split(r"[.\[]", problem.path)[0] in secret]
    head = (
        f"{len(errors)} problem{'s' if len(errors) > 1 else ''} in the arguments; nothing was "
        "declared"
    )
    raise _refusal(
        "\n".join([head, *(f"  {problem}" for problem in hidden)]),
        *(problem for problem in errors if problem not in hidden),
    )


def _refusal(message: str, *problems: Problem) -> pulumi.InputPropertiesError:
    # Without a list the SDK's server fails: "'Status' object has no attribute 'trailing_metadata'".
    return pulumi.InputPropertiesError(
        message,
        [
            {"property_path": problem.path, "reason": f"{problem.what}; {problem.remedy}"}
            for problem in problems
        ],
    )


def _follows(problem: Problem, unknown: set[str]) -> bool:
    """Return whether a value is missing only because it is unknown."""
    return any(problem.path == path or path.startswith(f"{problem.path}.") for path in unknown)
