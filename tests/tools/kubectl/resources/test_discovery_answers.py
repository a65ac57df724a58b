"""What a server says about its resources: what is no name is left out."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.discovery_answers import objects, of_group, of_list, texts_of


def group(*entries: Any) -> dict[str, Any]:
    return {"metadata": {"name": "g"}, "versions": [{"version": "v1", "resources": list(entries)}]}


def entry(**changed: Any) -> dict[str, Any]:
    return {
        "resource": "things",
        "responseKind": {"kind": "Thing"},
        "scope": "Namespaced",
        "verbs": ["get"],
    } | changed


def test_resources() -> None:
    listed = of_group(group(entry(shortNames=["t", 1], subresources=[{"subresource": "status"}, {}])))
    assert listed == [
        Resource("g", "v1", "things", "thing", "Thing", True, ("get",), ("t",), (), ("status",), True)
    ]
    old: list[dict[str, Any]] = [
        {"name": "things", "kind": "Thing", "namespaced": True, "verbs": ["get"], "shortNames": ["t"]},
        {"name": "things/status", "kind": "Thing"},
    ]
    assert of_list("g", "v1", old, True) == listed


@pytest.mark.parametrize(
    "wrong",
    [
        entry(resource=1), entry(resource=""), entry(resource=".."), entry(responseKind="x"),
        entry(responseKind={"kind": []}), {}, 1, None, [],
    ],
)  # fmt: skip
def test_what_is_no_resource(wrong: Any) -> None:
    assert [resource.plural for resource in of_group(group(wrong, entry()))] == ["things"]
    assert of_list("g", "v1", [{"name": wrong, "kind": wrong}], True) == []


def test_lists_of_anything() -> None:
    values: list[Any] = [None, 1, "ab", {}, [1, "a", {}]]
    assert [objects({"x": value}, "x") for value in values] == [[], [], [], [], [{}]]
    assert [texts_of(value) for value in values] == [(), (), (), (), ("a",)]


def test_a_name_stays_a_part_of_its_path() -> None:
    evil = Resource("g/x", "v 1", "a?b=c\r\nX: y", "", "", True)
    assert path_of(evil, "n/s", "..") == "/apis/g%2Fx/v%201/namespaces/n%2Fs/a%3Fb=c%0D%0AX:%20y/.."
