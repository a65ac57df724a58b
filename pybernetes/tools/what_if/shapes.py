"""Nodes that do not exist yet: ``cpu=8,memory=32Gi,pods=110,label:KEY=VALUE,taint:KEY=VALUE:EFFECT``."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.api.validation import names
from pybernetes.scheduling.nodes import Node
from pybernetes.tools.what_if.cluster import Cluster, QuestionError

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_PLAIN = ("cpu", "memory", "ephemeral-storage", "pods")
MAX_NODES = 100_000


class NodeShape(NamedTuple):
    """What the nodes of a shape have in common."""

    amounts: dict[str, str]
    labels: dict[str, str]
    taints: tuple[Object, ...]

    def nodes(self, cluster: Cluster, count: int) -> list[Node]:
        """Return some nodes of this shape, with names that the cluster does not have."""
        nodes: list[Node] = []
        number = 0
        while len(nodes) < count:
            name = f"new-{number}"
            number += 1
            if cluster.snapshot.node(name) is None:
                nodes.append(cluster.node_reader.read(self.node(name)))
        return nodes

    def node(self, name: str) -> Object:
        """Return a node object."""
        usual = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        return {
            "metadata": {"name": name, "labels": {**usual, **self.labels}},
            "spec": {"taints": list(self.taints)},
            "status": {"allocatable": self.amounts},
        }


def parse(text: str) -> NodeShape:
    """Read a shape; raise QuestionError that names the part which is wrong."""
    amounts, labels, taints = {"pods": "110"}, {}, []
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise QuestionError(f"--shape: {part}: NAME=VALUE is needed, such as cpu=8")
        if key.startswith("label:"):
            key = _checked(key.removeprefix("label:"))
            if problems := names.label_value(value):
                raise QuestionError(f"--shape: label:{key}: Invalid value: {value!r}: {problems[0]}")
            labels[key] = value
        elif key.startswith("taint:"):
            taints.append(_taint(_checked(key.removeprefix("taint:")), value))
        else:
            amounts[key] = _amount(key, value)
    for needed in ("cpu", "memory"):
        if needed not in amounts:
            raise QuestionError(
                f"--shape: {needed}: Required value: say what a node has, such as cpu=8,memory=32Gi"
            )
    return NodeShape(amounts, labels, tuple(taints))


def count_of(count: int) -> int:
    """Return a number of nodes, checked."""
    if not 1 <= count <= MAX_NODES:
        raise QuestionError(f"--count: Invalid value: {count}: must be from 1 to {MAX_NODES}")
    return count


def _checked(key: str) -> str:
    if problems := names.qualified_name(key):
        raise QuestionError(f"--shape: Invalid key {key!r}: {problems[0]}")
    return key


def _taint(key: str, value: str) -> Object:
    value, _, effect = value.rpartition(":")
    if effect not in _EFFECTS:
        raise QuestionError(
            f"--shape: taint:{key}: Unsupported effect {effect!r}: supported are {', '.join(_EFFECTS)}"
        )
    return {"key": key, "value": value, "effect": effect}


def _amount(key: str, value: str) -> str:
    if key not in _PLAIN and "/" not in key and not key.startswith("hugepages-"):
        raise QuestionError(
            f"--shape: {key}: no resource of a node: {', '.join(_PLAIN)}, hugepages-SIZE, or VENDOR/NAME; "
            f"a label is label:{key}={value}"
        )
    try:
        amount = quantity.parse(value)
    except ValueError as error:
        raise QuestionError(f"--shape: {key}: Invalid value: {value!r}: {error}") from None
    if amount < 0:
        raise QuestionError(f"--shape: {key}: Invalid value: {value!r}: must be greater than or equal to 0")
    return value
