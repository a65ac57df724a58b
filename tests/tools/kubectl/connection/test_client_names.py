"""Objects without a name: what would be done to them must not be done to all objects of their kind."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.connection.client import Client, path_of
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.discovery import Resource

PODS = Resource("", "v1", "pods", "pod", "Pod", True)


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [("get", ()), ("delete", ()), ("replace", ({},)), ("patch", ({},))],
)
def test_an_object_without_a_name_is_refused(verb: str, arguments: Any) -> None:
    client = Client.__new__(Client)  # without a server: nothing may be sent
    with pytest.raises(CommandError, match="resource name may not be empty"):
        getattr(client, verb)(PODS, "default", "", *arguments)


def test_paths() -> None:
    assert path_of(PODS, "default") == "/api/v1/namespaces/default/pods"
    assert (
        path_of(Resource("", "", "pods", "pod", "Pod", True), "default", "a")
        == "/api/namespaces/default/pods/a"
    )
