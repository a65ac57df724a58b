"""set env --list: what references are called, and what they mean without a running pod."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pybernetes.api.resource import Object
from pybernetes.tools.kubectl.commands.set import _references
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from tests.tools.kubectl.run_kubectl import run

OWNER: Object = {"metadata": {"name": "web", "namespace": "ns", "labels": {"a": "b", "c": 'd"'}}}
FIRST: Object = {"name": "c", "resources": {"limits": {"cpu": "1500m", "memory": "64Mi"}}}
OTHER: Object = {"name": "i", "resources": {"requests": {"memory": "1Ki"}}}


class Cluster:
    """What there is to refer to."""

    namespace = "ns"

    @property
    def client(self) -> Cluster:
        return self

    def get(self, resource: Any, namespace: str, name: str) -> Object:
        return {("configmaps", "m"): {"data": {"k": "v"}}, ("secrets", "s"): {"data": {"k": "dw=="}}}[
            resource.plural, name
        ]


@pytest.mark.parametrize(
    ("source", "called", "value"),
    [
        ({"fieldRef": {"fieldPath": "metadata.name"}}, "field path metadata.name", "web"),
        ({"fieldRef": {"fieldPath": "metadata.labels['a']"}}, "field path metadata.labels['a']", "b"),
        ({"fieldRef": {"fieldPath": "metadata.labels['x']"}}, "field path metadata.labels['x']", ""),
        ({"fieldRef": {"fieldPath": "metadata.labels"}}, "field path metadata.labels", 'a="b"\nc="d\\""'),
        ({"resourceFieldRef": {"resource": "limits.cpu"}}, "resource field limits.cpu", "2"),
        ({"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}, "resource field limits.memory", "64"),
        ({"resourceFieldRef": {"resource": "requests.memory", "containerName": "i"}}, "resource field i/requests.memory", "1024"),
        ({"resourceFieldRef": {"resource": "requests.cpu"}}, "resource field requests.cpu", "0"),
        ({"configMapKeyRef": {"name": "m", "key": "k"}}, "configmap m, key k", "v"),
        ({"secretKeyRef": {"name": "s", "key": "k"}}, "secret s, key k", "w"),
    ],
)  # fmt: skip
def test_references(source: Object, called: str, value: str) -> None:
    assert _references.told(source) == called
    context = cast(Context, Cluster())
    assert _references.value(context, source, OWNER, FIRST, [FIRST, OTHER]) == value


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({"fieldRef": {"fieldPath": "status.hostIP"}}, "unsupported fieldPath: status.hostIP"),
        ({"resourceFieldRef": {"resource": "cpu"}}, "unsupported container resource : cpu"),
        ({"configMapKeyRef": {"name": "m", "key": "x"}}, "key x not found in config map m"),
        ({"secretKeyRef": {"name": "s", "key": "x"}}, "key x not found in secret s"),
        ({}, "invalid valueFrom"),
    ],
)
def test_references_without_a_value(source: Object, problem: str) -> None:
    with pytest.raises(CommandError) as caught:
        _references.value(cast(Context, Cluster()), source, OWNER, FIRST, [FIRST])
    assert caught.value.message == problem


def test_given_variables_are_listed_with_those_that_are_there(tmp_path: Any) -> None:
    pod = tmp_path / "pod.yaml"
    pod.write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  initContainers: [{name: i, env: [{name: I, value: '1'}]}]\n"
        "  containers: [{name: c, env: [{name: A, value: a}, {name: H, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}]}]\n"
    )
    listed = ("set", "env", "--local", "--list", "-f", str(pod))
    assert run(*listed, "A=b", "I-") == (
        0,
        "# Pod p, container c\nA=b\n# H from field path status.hostIP\n# Pod p, container i\nA=b\n",
        "",
    )
    assert run(*listed, "--resolve", "-c", "c") == (
        0,
        "# Pod p, container c\nA=a\n# H from field path status.hostIP\n",
        "error retrieving reference for H: unsupported fieldPath: status.hostIP\n",
    )
    assert run(*listed, "A=b", "--overwrite=false") == (0, "", "")
