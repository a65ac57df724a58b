"""Whatever list or map of whatever kind is long: reading, checking, telling what is wrong and showing take linear time."""

from __future__ import annotations

from functools import partial

import pytest

from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object, Resource
from pybernetes.api.schema import Type
from tests.api import stretched
from tests.doubling import MOST_GROWTH, Input, growth, seconds

_SIZE = 400
# What takes less for so many items is not quadratic, or has no weight; the rest is measured properly.
_SUSPICIOUS_SECONDS = 0.025
# Their templates are those of pods, whose lists are tried once.
_TEMPLATES = ("spec.template.spec", "template.spec", "spec.jobTemplate.spec.template.spec")
# Metadata is the same for all kinds.
_METADATA_OF = "ConfigMap"


def _stretched(resource: Resource, path: stretched.Path, type_: Type, same: bool, size: int) -> Object:
    return stretched.stretched(resource, path, type_, size, same=same)


def _inputs(resource: Resource) -> list[Input]:
    inputs = []
    for path, type_ in stretched.paths(resource.type):
        name = ".".join(path)
        if name.startswith(_TEMPLATES) or (".metadata." in f".{name}" and resource.kind != _METADATA_OF):
            continue
        for same in (False, True):
            make = partial(_stretched, resource, path, type_, same)
            inputs.append(
                Input(
                    f"{name}{' (the same)' if same else ''}",
                    make,
                    lambda obj: stretched.write(resource, obj),
                    _SIZE // 16,
                )
            )
    return inputs


@pytest.mark.parametrize(
    "resource", builtin(), ids=lambda resource: f"{resource.api_version} {resource.kind}"
)
def test_every_list_and_map(resource: Resource) -> None:
    ratios = {}
    for input_ in _inputs(resource):
        if seconds(input_, _SIZE) > _SUSPICIOUS_SECONDS:
            ratios[input_.name] = growth(input_)
    assert {name: ratio for name, ratio in ratios.items() if ratio > MOST_GROWTH} == {}
