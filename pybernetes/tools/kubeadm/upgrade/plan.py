"""What an upgrade would change, as an object and for people. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.tools.image.names import DNS_VERSION
from pybernetes.tools.kubeadm import output
from pybernetes.tools.kubeadm.configuration.documents import COMPONENTS
from pybernetes.tools.kubeadm.upgrade.policy import parse

_CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_RULE = "_____________________________________________________________________"


@dataclass(frozen=True)
class Versions:
    """Which versions there are: of each component by the nodes that have it."""

    cluster: str
    dns: str
    kubelets: Mapping[str, str]
    control_planes: Mapping[str, Mapping[str, str]]
    etcd: Mapping[str, str]


def plan(present: Versions, target: str, description: str, etcd_target: str) -> Object:
    """Return the plan of an upgrade to a version; without ``etcd_target`` etcd is left as it is."""
    upgrades = []
    if _order(present.cluster) < _order(target):
        upgrades.append(
            {"description": description, "components": list(_components(present, target, etcd_target))}
        )
    versions = [
        {
            "group": group_version.partition("/")[0],
            "currentVersion": group_version.partition("/")[2],
            "preferredVersion": group_version.partition("/")[2],
            "manualUpgradeRequired": False,
        }
        for group_version in sorted(COMPONENTS, reverse=True)
    ]
    return output.typed("UpgradePlan", {"availableUpgrades": upgrades, "configVersions": versions})


def _components(present: Versions, target: str, etcd_target: str) -> Iterator[Object]:
    if {*present.kubelets.values()} - {target}:
        yield from _on_nodes("kubelet", present.kubelets, target)
    for name in _CONTROL_PLANE:
        yield from _on_nodes(name, present.control_planes.get(name) or {}, target)
    yield _component("kube-proxy", present.cluster.removeprefix("v"), target)
    yield _component("CoreDNS", present.dns, DNS_VERSION)
    yield _component("kubeadm", KUBERNETES_VERSION, max(target, KUBERNETES_VERSION, key=_order))
    if etcd_target:
        yield from _on_nodes("etcd", present.etcd, etcd_target)


def _on_nodes(name: str, versions: Mapping[str, str], target: str) -> Iterator[Object]:
    for version, node in sorted((version, node) for node, version in versions.items()):
        yield {**_component(name, version, target), "nodeName": node}


def _component(name: str, old: str, new: str) -> Object:
    return {"name": name, "currentVersion": old, "newVersion": new}


def _order(version: str) -> tuple[tuple[int, int, int], bool, str]:
    major, minor, patch, state = parse(version)
    return (major, minor, patch), not state, state  # what is before a release is older than it


def description(current: str, target: str, *, named: bool) -> str:
    """Return what kind of version it is that is upgraded to; ``named`` if the user said which one."""
    if named or parse(current)[:2] == parse(target)[:2]:
        return f"version in the v{'.'.join(current.lstrip('v').split('.')[:2])} series"
    return "stable version"


def text(value: Object) -> str:
    """Return a plan for people."""
    if not value["availableUpgrades"]:
        return "\nAwesome, you're up-to-date! Enjoy!\n"
    head = ("COMPONENT", "NODE", "CURRENT", "TARGET")
    parts = ["\n"]
    for upgrade in value["availableUpgrades"]:
        rows = {"kubelet": [head], "": [head]}
        for entry in upgrade["components"]:
            if entry["name"] != "kubeadm":
                rows["kubelet" if entry["name"] == "kubelet" else ""].append(
                    (entry["name"], entry.get("nodeName", ""), entry["currentVersion"], entry["newVersion"])
                )
        kubeadm = next(entry for entry in upgrade["components"] if entry["name"] == "kubeadm")
        target = next(entry["newVersion"] for entry in upgrade["components"] if entry["name"] == "kube-proxy")
        if rows["kubelet"][1:]:
            parts.append(
                "Components that must be upgraded manually after you have upgraded the control plane with 'kubeadm upgrade apply':\n"
                f"{output.table(rows['kubelet'])}\n"
            )
        parts.append(
            f"Upgrade to the latest {upgrade['description']}:\n\n{output.table(rows[''])}\n"
            "You can now apply the upgrade by executing the following command:\n\n"
            f"\tkubeadm upgrade apply {target}{_unstable(target)}\n\n"
        )
        if kubeadm["currentVersion"] != kubeadm["newVersion"]:
            parts.append(
                f"Note: Before you can perform this upgrade, you have to update kubeadm to {kubeadm['newVersion']}.\n\n"
            )
        parts.append(f"{_RULE}\n\n")
    states = [("API GROUP", "CURRENT VERSION", "PREFERRED VERSION", "MANUAL UPGRADE REQUIRED")]
    states += [
        (state["group"], state["currentVersion"], state["preferredVersion"], "no")
        for state in value["configVersions"]
    ]
    return "".join([*parts, output.table(states), f"{_RULE}\n\n"])


def _unstable(target: str) -> str:
    """Return the flag that an upgrade to a version takes."""
    _, separator, state = target.partition("-")
    if not separator:
        return ""
    return f" --allow-{'release-candidate' if state.startswith('rc') else 'experimental'}-upgrades"
