"""5.2: what pods of users may ask for. A namespace that enforces a standard cannot hold what it forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.tools.audit_security.check import Check, Finding, State, nobody
from pybernetes.tools.audit_security.cluster_inputs import OWN_NAMESPACES, ClusterInputs, name_of

_ENFORCE = "pod-security.kubernetes.io/enforce"
_LISTS = ("initContainers", "containers", "ephemeralContainers")


def containers(pod: Object) -> Iterator[Object]:
    """Yield every container of a pod, of all three sorts."""
    for sort in _LISTS:
        yield from pod["spec"].get(sort) or ()


def _levels(inputs: ClusterInputs) -> Finding:
    open_ = (
        name_of(namespace)
        for namespace in inputs.objects.get("namespaces", ())
        if namespace["metadata"]["name"] not in OWN_NAMESPACES
        and namespace["metadata"].get("labels", {}).get(_ENFORCE) not in ("baseline", "restricted")
    )
    return nobody(open_, "namespaces that enforce no standard")


def _pods(test: Callable[[Object], Any], what: str) -> Callable[[ClusterInputs], Finding]:
    return lambda inputs: nobody((name_of(pod) for pod in inputs.pods() if test(pod)), what)


def _any(test: Callable[[Object], Any], what: str) -> Callable[[ClusterInputs], Finding]:
    return _pods(lambda pod: any(test(container) for container in containers(pod)), what)


def security(container: Object) -> Object:
    """Return the security context of a container."""
    return container.get("securityContext") or {}


def _added(container: Object) -> list[str]:
    return list((security(container).get("capabilities") or {}).get("add") or ())


def _dropped(container: Object) -> list[str]:
    return list((security(container).get("capabilities") or {}).get("drop") or ())


def _root(pod: Object) -> bool:
    whole = pod["spec"].get("securityContext") or {}

    def may_be_root(container: Object) -> bool:
        own = {**whole, **security(container)}
        return not own.get("runAsNonRoot") and not own.get("runAsUser")

    return any(may_be_root(container) for container in containers(pod))


CHECKS = (
    Check("5.2.1", "every namespace enforces a pod security standard", _levels),
    Check("5.2.2", "no privileged containers", _any(lambda container: security(container).get("privileged"), "privileged")),
    Check("5.2.3", "no pods in the host's process namespace", _pods(lambda pod: pod["spec"].get("hostPID"), "hostPID")),
    Check("5.2.4", "no pods in the host's IPC namespace", _pods(lambda pod: pod["spec"].get("hostIPC"), "hostIPC")),
    Check("5.2.5", "no pods in the host's network", _pods(lambda pod: pod["spec"].get("hostNetwork"), "hostNetwork")),
    Check("5.2.6", "no privilege escalation", _any(
        lambda container: security(container).get("allowPrivilegeEscalation") is not False, "not forbidden by")),
    Check("5.2.7", "no containers as root", _pods(_root, "may run as root")),
    Check("5.2.8", "no NET_RAW", _any(lambda container: not {"ALL", "NET_RAW"} & set(_dropped(container)), "not dropped by")),
    Check("5.2.9", "no added capabilities", _any(lambda container: set(_added(container)) - {"NET_BIND_SERVICE"}, "added by")),
    Check("5.2.10", "capabilities are dropped", _any(lambda container: "ALL" not in _dropped(container), "not all are dropped by")),
    Check("5.2.11", "no Windows host processes", lambda inputs: Finding(State.NONE, "there are no Windows nodes")),
    Check("5.2.12", "no hostPath volumes", _pods(
        lambda pod: any("hostPath" in volume for volume in pod["spec"].get("volumes") or ()), "hostPath in")),
    Check("5.2.13", "no host ports", _any(
        lambda container: any(port.get("hostPort") for port in container.get("ports") or ()), "host ports of")),
)  # fmt: skip
