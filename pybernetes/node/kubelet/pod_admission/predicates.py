"""Whether a pod can run on the node at all: a pure function of the pod, the node and the other pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pybernetes.api import quantity
from pybernetes.api.core.pod import placement, resource_totals
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList, add_to
from pybernetes.node.kubelet.pod_admission.app_armor import app_armor_problem
from pybernetes.node.kubelet.pod_admission.sysctl_allowlist import sysctl_problem
from pybernetes.node.kubelet.pod_kinds import is_static

_OS = "kubernetes.io/os"


def refusal(
    pod: Object,
    node: Object,
    others: Iterable[Object],
    unsafe_sysctls: Iterable[str] = (),
    app_armor: bool = False,
) -> tuple[str, str] | None:
    """Return reason and message if the pod cannot run here; resources are checked last, as preemption could help.

    ``app_armor`` is whether the kernel has it.
    """
    problem = (
        _sysctls(pod, unsafe_sysctls)
        or _app_armor(pod, app_armor)
        or _system(pod)
        or _supplemental_groups(pod, node)
        or _selector(pod, node)
        or _taints(pod, node)
        or _ports(pod, others := list(others))
        or _resources(pod, node.get("status", {}).get("allocatable", {}), others)
    )
    return (problem[0], f"Pod was rejected: {problem[1]}") if problem is not None else None


def _system(pod: Object) -> tuple[str, str] | None:
    label = (pod["metadata"].get("labels") or {}).get(_OS, "linux")
    if label != "linux":
        text = f"Failed to admit pod as the `{_OS}` label doesn't match node label"
        return "PodOSSelectorNodeLabelDoesNotMatch", text
    if (pod["spec"].get("os") or {}).get("name", "linux") != "linux":
        return "PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"
    return None


def _sysctls(pod: Object, allowed: Iterable[str]) -> tuple[str, str] | None:
    problem = sysctl_problem(pod["spec"], allowed)
    return ("SysctlForbidden", f"forbidden sysctl: {problem}") if problem is not None else None


def _app_armor(pod: Object, enabled: bool) -> tuple[str, str] | None:
    problem = app_armor_problem(pod["spec"], enabled)
    return ("AppArmor", f"Cannot enforce AppArmor: {problem}") if problem is not None else None


def _supplemental_groups(pod: Object, node: Object) -> tuple[str, str] | None:
    policy = (pod["spec"].get("securityContext") or {}).get("supplementalGroupsPolicy")
    supported = (node.get("status", {}).get("features") or {}).get("supplementalGroupsPolicy")
    if policy != "Strict" or supported:
        return None
    text = "SupplementalGroupsPolicy=Strict is not supported in this node"
    return "SupplementalGroupsPolicyNotSupported", text


def _selector(pod: Object, node: Object) -> tuple[str, str] | None:
    if not placement.required_affinity(pod["spec"])({"metadata": {"name": ""}, **node}):
        return (
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        )
    return None


def _taints(pod: Object, node: Object) -> tuple[str, str] | None:
    if is_static(pod):
        return None
    taints, tolerations = node.get("spec", {}).get("taints"), pod["spec"].get("tolerations")
    if placement.untolerated(taints, tolerations, ("NoExecute",)) is None:
        return None
    text = "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
    return "TaintToleration", text


_EVERY_ADDRESS = "0.0.0.0"


def _host_ports(pod: Object) -> Iterator[tuple[str, int, str]]:
    for group in ("containers", "initContainers"):
        for container in pod["spec"].get(group, ()):
            for port in container.get("ports", ()):
                if number := port.get("hostPort"):
                    yield port.get("protocol", "TCP"), number, port.get("hostIP") or _EVERY_ADDRESS


def _ports(pod: Object, others: list[Object]) -> tuple[str, str] | None:
    wanted = set(_host_ports(pod))
    if not wanted:
        return None
    numbers = {(protocol, port) for protocol, port, _ in wanted}
    for other in others:
        for protocol, port, address in _host_ports(other):
            if (protocol, port) in numbers and (
                address == _EVERY_ADDRESS
                or (protocol, port, address) in wanted
                or (protocol, port, _EVERY_ADDRESS) in wanted
            ):
                return (
                    "NodePorts",
                    "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
                )
    return None


def _resources(pod: Object, allocatable: Mapping[str, str], others: list[Object]) -> tuple[str, str] | None:
    if not allocatable:
        return None
    if "pods" in allocatable and len(others) + 1 > quantity.integer(allocatable["pods"]):
        text = f"Node didn't have enough resource: pods, requested: 1, used: {len(others)}, capacity: {allocatable['pods']}"
        return "OutOfpods", text
    used: ResourceList = {}
    for other in others:
        add_to(used, resource_totals.requests(other))
    for name, value in resource_totals.requests(pod).items():
        requested = quantity.parse(value)
        if not requested or name not in allocatable:
            continue
        have, taken = quantity.parse(allocatable[name]), quantity.parse(used.get(name, "0"))
        if requested + taken > have:
            scale = 1000 if name == "cpu" else 1
            numbers = [int(amount * scale) for amount in (requested, taken, have)]
            text = f"Node didn't have enough resource: {name}, requested: {numbers[0]}, used: {numbers[1]}, capacity: {numbers[2]}"
            return f"OutOf{name}", text
    return None
