"""Patches that make of an object what its kind does not have."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.apiserver.verbs.test_update import config_map, path
from tests.servers import Server

STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


@pytest.mark.parametrize(
    ("change", "shown", "why"),
    [
        ({"labels": "x"}, "map[metadata:map[labels:x]]", "cannot restore map from string"),
        ({"labels": {"a": True}}, "map[metadata:map[labels:map[a:true]]]", "unrecognized type: string"),
        ({"labels": {"a": 5}}, "map[metadata:map[labels:map[a:5]]]", "cannot convert int64 to string"),
    ],
)
def test_a_strategic_patch_that_does_not_fit(
    server: Server, namespace: str, change: dict[str, Any], shown: str, why: str
) -> None:
    name = "unfit"
    server.call("POST", path(namespace), config_map(name))
    code, answer = server.call("PATCH", path(namespace, name), {"metadata": change}, headers=STRATEGIC)
    assert (code, answer["message"]) == (422, f' "" is invalid: patch: Invalid value: "{shown}": {why}')
