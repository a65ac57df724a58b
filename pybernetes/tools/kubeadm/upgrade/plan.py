"""What an upgrade would change, as an object and for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pybernetes import KUBERNETES_VERSION
from pybernetes.tools.kubeadm import output
from pybernetes.tools.kubeadm.configuration.documents import COMPONENTS
from pybernetes.tools.kubeadm.upgrade.policy import parse

Object = dict[str, Any]
_CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
_RULE = "_____________________________________________________________________"


def plan(
    current: str,
    target: str,
    kubelets: Mapping[str, str],
    control_planes: Mapping[str, Mapping[str, str]],
    etcd: Mapping[str, str],
    etcd_target: str,
) -> Object:
    """Return the plan: versions of kubelets by node, of a control plane's components by component and node, of etcd by node."""
    components = []

    def add(name: str, old: str, new: str, node: str = "") -> None:
        entry = {"name": name, "currentVersion": old, "newVersion": new}
        components.append({**entry, **({"nodeName": node} if node else {})})

    for node, version in sorted(kubelets.items()):
        if version != target:
            add("kubelet", version, target, node)
    for name in _CONTROL_PLANE:
        for node, version in sorted((control_planes.get(name) or {}).items()):
            add(name, version, target, node)
    add("kube-proxy", current, target)
    add("kubeadm", KUBERNETES_VERSION, max(target, KUBERNETES_VERSION, key=parse))
    for node, version in sorted(etcd.items()):
        if etcd_target and version != etcd_target:
            add("etcd", version, etcd_target, node)
    changes = any(
        entry["currentVersion"] != entry["newVersion"] for entry in components if entry["name"] != "kubeadm"
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
    return {
        "apiVersion": "output.kubeadm.k8s.io/v1alpha3",
        "kind": "UpgradePlan",
        "availableUpgrades": [{"description": f"version to {target}", "components": components}]
        if changes
        else [],
        "configVersions": versions,
    }


def text(value: Object) -> str:
    """Return a plan for people."""
    if not value["availableUpgrades"]:
        return "\nAwesome, you're up-to-date! Enjoy!"
    lines: list[str] = []
    head = ("COMPONENT", "NODE", "CURRENT", "TARGET")
    for upgrade in value["availableUpgrades"]:
        rows = [
            (entry["name"], entry.get("nodeName", ""), entry["currentVersion"], entry["newVersion"])
            for entry in upgrade["components"]
            if entry["name"] != "kubeadm"
        ]
        notes = [
            line
            for entry in upgrade["components"]
            if entry["name"] == "kubeadm" and entry["currentVersion"] != entry["newVersion"]
            for line in (
                f"Note: Before you can perform this upgrade, you have to update kubeadm to {entry['newVersion']}.",
                "",
            )
        ]
        kubelets = [row for row in rows if row[0] == "kubelet"]
        if kubelets:
            lines += [
                "Components that must be upgraded manually after you have upgraded the control plane with 'kubeadm upgrade apply':",
                *output.table([head, *kubelets]), "",
            ]  # fmt: skip
        lines += [
            f"Upgrade to the latest {upgrade['description']}:", "",
            *output.table([head, *(row for row in rows if row[0] != "kubelet")]), "",
            "You can now apply the upgrade by executing the following command:", "",
            f"\tkubeadm upgrade apply {upgrade['description'].rpartition(' ')[2]}", "", *notes, _RULE, "",
        ]  # fmt: skip
    states = [("API GROUP", "CURRENT VERSION", "PREFERRED VERSION", "MANUAL UPGRADE REQUIRED")]
    states += [
        (state["group"], state["currentVersion"], state["preferredVersion"], "no")
        for state in value["configVersions"]
    ]
    return "\n".join([*lines, *output.table(states), _RULE, ""])
