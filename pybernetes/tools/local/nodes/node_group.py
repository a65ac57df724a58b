"""Reads and checks groups of nodes: how many nodes they may have, and what these are like. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import count
from typing import Any

from pybernetes.api import quantity
from pybernetes.api.resource import Object
from pybernetes.api.validation import names
from pybernetes.tools.local.settings import HollowNode, NodeGroup, Settings, SettingsError, new_node

ROLE_LABEL = "node-role.kubernetes.io/"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
MAX_NODES = 5000
# Labels of Kubernetes that a kubelet may give its own node; all others of its domains are for administrators.
_OWN_LABELS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "node.kubernetes.io/instance-type",
)
_OWN_DOMAINS = ("node.kubernetes.io", "kubelet.kubernetes.io")


class GroupError(SettingsError):
    """A group cannot be as it is asked for; the text names the field."""


def read(obj: Any, path: str = "nodeGroups") -> NodeGroup:
    """Return a group from its form in a file; GroupError if anything about it is wrong."""
    if not isinstance(obj, Mapping):
        raise GroupError(f"{path}: {obj!r} is not a group: it needs at least a name")
    kinds = {entry.name: entry.type for entry in fields(NodeGroup)}
    unknown = sorted(set(obj) - set(kinds), key=str)
    if unknown:
        raise GroupError(f"{path}: unknown field {unknown[0]!r}; the fields are {', '.join(kinds)}")
    values = dict(obj)
    for key, kind in (
        ("labels", dict),
        ("taints", list),
        ("resources", dict),
        ("hollow", bool),
        ("role", str),
    ):
        if not isinstance(values.get(key, kind()), kind):
            raise GroupError(f"{path}.{key}: {values[key]!r} is not a {kind.__name__}")
    for key in ("labels", "resources"):
        values[key] = {str(name): str(value) for name, value in values.get(key, {}).items()}
    values["taints"] = [taint_text(taint) for taint in values.get("taints", ())]
    return checked(NodeGroup(**{"name": "", **values}), path)


def merged(existing: list[NodeGroup], given: list[Any]) -> list[NodeGroup]:
    """Return the groups after a file: those that it names are as it says, and others stay."""
    groups = [read(obj, f"nodeGroups[{number}]") for number, obj in enumerate(given)]
    by_name = {group.name: group for group in groups}
    if len(by_name) < len(groups):
        raise GroupError("nodeGroups: two groups have the same name")
    for old in existing:
        new = by_name.get(old.name, old)
        if new.hollow != old.hollow:
            raise GroupError(
                f"nodeGroups: {old.name}: its nodes cannot become {'hollow' if new.hollow else 'real'}"
            )
    names_before = {group.name for group in existing}
    return [
        *(by_name.get(old.name, old) for old in existing),
        *(new for new in groups if new.name not in names_before),
    ]


def resized(cluster: str, settings: Settings) -> Settings:
    """Return the settings with as many nodes in each group as it begins with, or as it may have by now."""
    for group in settings.node_groups:
        present = len(settings.members(group))
        wanted = min(max(present or group.size, group.minimum), group.maximum)
        if present > wanted:
            raise GroupError(
                f"the group {group.name} has {present} nodes already; pyb node-group scale takes some away"
            )
        for _ in range(wanted - present):
            settings = grown(cluster, settings, group)[0]
    return settings


def grown(cluster: str, settings: Settings, group: NodeGroup) -> tuple[Settings, str]:
    """Return the settings with one more node in a group, and its name."""
    if group.hollow:
        taken = {node.name for node in settings.hollow_nodes}
        name = next(name for number in count() if (name := f"hollow-{group.name}-{number}") not in taken)
        return replace(settings, hollow_nodes=[*settings.hollow_nodes, HollowNode(name, group.name)]), name
    node = new_node(cluster, settings.nodes, group=group.name)
    return replace(settings, nodes=[*settings.nodes, node]), node.name


def shrunk(settings: Settings, name: str) -> Settings:
    """Return the settings without a node."""
    return replace(
        settings,
        nodes=[node for node in settings.nodes if node.name != name],
        hollow_nodes=[node for node in settings.hollow_nodes if node.name != name],
    )


def checked(group: NodeGroup, path: str = "node group") -> NodeGroup:
    """Return a group with its size filled in; GroupError if it cannot be."""
    if not isinstance(group.name, str) or names.dns_label(group.name) or len(group.name) > 30:
        raise GroupError(
            f"{path}.name: {group.name!r} is no name: up to 30 lower case letters, digits and dashes"
        )
    for key in ("minimum", "maximum", "size"):
        value = getattr(group, key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise GroupError(f"{path}.{key}: {value!r} is not a number")
    if not 0 <= group.minimum <= group.maximum <= MAX_NODES:
        raise GroupError(
            f"{path}: minimum {group.minimum} and maximum {group.maximum} must be in this order between 0 and {MAX_NODES}"
        )
    group = replace(group, size=group.minimum) if group.size == -1 else group
    check_size(group, group.size)
    check_labels(group.labels, f"{path}.labels")
    for taint in group.taints:
        read_taint(taint)
    for key, text in group.resources.items():
        _check_amount(key, text, f"{path}.resources")
    if group.role and names.qualified_name(ROLE_LABEL + group.role):
        raise GroupError(f"{path}.role: {group.role!r} cannot be part of a label")
    return group


def check_size(group: NodeGroup, size: int) -> None:
    """Raise GroupError unless a group may have so many nodes."""
    if not group.minimum <= size <= group.maximum:
        raise GroupError(
            f"the group {group.name} has from {group.minimum} to {group.maximum} nodes; {size} is out of range"
        )


def check_labels(labels: Mapping[str, str], path: str = "labels") -> None:
    """Raise GroupError for labels that are none, or that a node may not give itself."""
    for key, value in labels.items():
        problems = names.qualified_name(key) or names.label_value(value)
        if problems:
            raise GroupError(f"{path}: {key}={value}: {problems[0]}")
        domain = key.partition("/")[0] if "/" in key else ""
        reserved = domain.endswith(("kubernetes.io", "k8s.io")) and domain not in _OWN_DOMAINS
        if reserved and key not in _OWN_LABELS:
            raise GroupError(
                f"{path}: {key} is not for nodes to give themselves; a role has a field of its own"
            )


def _check_amount(key: str, text: str, path: str) -> None:
    try:
        amount = quantity.parse(text)
    except ValueError as error:
        raise GroupError(f"{path}.{key}: {text!r}: {error}") from None
    if amount <= 0:
        raise GroupError(f"{path}.{key}: {text!r} is not more than nothing")


def read_labels(text: str) -> dict[str, str]:
    """Return the labels of a command line: ``KEY=VALUE,KEY=VALUE``."""
    labels = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise GroupError(f"labels: {part}: KEY=VALUE is needed")
        labels[key] = value
    return labels


def read_taint(text: str) -> Object:
    """Return the taint of ``KEY[=VALUE]:EFFECT``; GroupError if it is none."""
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    problems = names.qualified_name(key) or (names.label_value(value) if value else [])
    if problems or effect not in EFFECTS:
        why = problems[0] if problems else f"the effect is none of {', '.join(EFFECTS)}"
        raise GroupError(f"taints: {text!r}: {why}; write KEY=VALUE:EFFECT")
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}


def taint_text(taint: Any) -> str:
    """Return the text of a taint, which a file may write as an object."""
    if isinstance(taint, Mapping):
        value = f"={taint['value']}" if taint.get("value") else ""
        return f"{taint.get('key', '')}{value}:{taint.get('effect', '')}"
    return str(taint)


def provider_id(cluster: str, node: str) -> str:
    """Return what the cloud of this machine calls a node."""
    return f"local://{cluster}/{node}"


def node_object(group: NodeGroup, cluster: str, name: str, usual: Mapping[str, str]) -> Object:
    """Return the Node of a group as an administrator registers it; ``usual`` are the labels that every node has."""
    labels = {**usual, "kubernetes.io/hostname": name, **group.all_labels()}
    if group.role:
        labels[ROLE_LABEL + group.role] = ""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "providerID": provider_id(cluster, name),
            "taints": [read_taint(text) for text in group.taints],
        },
    }
