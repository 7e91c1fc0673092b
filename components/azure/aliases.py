"""Leaves out the aliases azure-native's classes bring along for states of other programs."""

from __future__ import annotations

import copy
import re

import pulumi

_VERSIONED = re.compile(r"azure-native:\w+/v\d{8}\w*:")
"""A type of one API version, such as `azure-native:network/v20230201:Subnet`."""


def left_out(opts: pulumi.ResourceOptions | None) -> pulumi.ResourceOptions:
    """A component's options with which its children have no aliases that only name an API version.

    A class has up to 113, for states of programs that once chose an API version, which this one never did. They cost more
    time than all else a resource takes (pulumi-azure-native issue 1493, pulumi issue 10010; `python -m bench`).
    """
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(transformations=[_unversioned]))


def _unversioned(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
    # The engine's `transforms` would come too late: the constructor is what takes the time. Should `transformations`, which
    # Pulumi means to retire, do nothing one day, the aliases are back and nothing else has changed.
    opts = copy.copy(args.opts)
    opts.aliases = [alias for alias in opts.aliases or () if not _names_a_version(alias)]
    return pulumi.ResourceTransformationResult(args.props, opts)


def _names_a_version(alias: pulumi.Input[str | pulumi.Alias]) -> bool:
    return isinstance(alias, pulumi.Alias) and isinstance(alias.type_, str) and bool(_VERSIONED.match(alias.type_))
