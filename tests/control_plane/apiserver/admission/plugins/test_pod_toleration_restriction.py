"""PodTolerationRestriction: what it sets, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.admission.plugins.pods import (
    namespace,
    refusal,
    spec_after,
)
from tests.control_plane.apiserver.admission.world import Object, pod, requests

PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}


DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"


PERMITTED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"


@pytest.mark.parametrize(
    ("annotations", "given", "expected"),
    [
        ({}, pod(), [{"key": "cluster", "operator": "Exists"}]),
        ({DEFAULTS: ""}, pod(), None),
        ({DEFAULTS: '[{"key":"k","operator":"Exists"}]'}, pod(), [{"key": "k", "operator": "Exists"}]),
        ({DEFAULTS: ""}, pod(container=requests({"cpu": "1"})), [PRESSURE]),
    ],
)
def test_pod_toleration_restriction(annotations: dict[str, str], given: Object, expected: Any) -> None:
    objects = ("", "namespaces", namespace(annotations=annotations))
    configuration = {"default": [{"key": "cluster", "operator": "Exists"}]}
    spec = spec_after("PodTolerationRestriction", given, objects, PodTolerationRestriction=configuration)
    assert spec.get("tolerations") == expected


@pytest.mark.parametrize(
    ("annotations", "configuration", "message"),
    [
        ({PERMITTED: '[{"key":"k","operator":"Exists"}]'}, None, "conflict with its namespace whitelist"),
        ({}, {"whitelist": [{"key": "k", "operator": "Exists"}]}, "conflict with its cluster whitelist"),
        ({PERMITTED: "["}, None, "unexpected end of data"),
        ({PERMITTED: "[1]"}, None, "is no list of tolerations"),
        ({PERMITTED: ""}, {"whitelist": [{"key": "k", "operator": "Exists"}]}, ""),
        ({PERMITTED: '[{"operator":"Exists"}]'}, None, ""),
    ],
)
def test_pod_toleration_restriction_refuses(annotations: Any, configuration: Any, message: str) -> None:
    given = pod(tolerations=[{"key": "z", "operator": "Exists"}])
    objects = ("", "namespaces", namespace(annotations=annotations))
    problem = refusal("PodTolerationRestriction", given, objects, configuration=configuration)
    assert message in problem and bool(problem) == bool(message)
