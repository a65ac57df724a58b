"""The reported status of a pod as a whole."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.lib import rfc3339
from pybernetes.node.kubelet.cri.pod_runtime import PodRuntime
from pybernetes.node.kubelet.status.container_status import container_status
from pybernetes.node.kubelet.status.pod_conditions import pod_conditions
from pybernetes.node.kubelet.status.pod_phase import pod_phase
from pybernetes.node.kubelet.status.status_inputs import ENDED, StatusInputs, all_containers_restart


def pod_status(pod: Object, runtime: PodRuntime, previous: Object, inputs: StatusInputs) -> Object:
    """Return the status of a pod; ``previous`` is the one that was reported last."""
    spec = pod["spec"]
    status: Object = {}
    inits = spec.get("initContainers", [])
    initial = ("PodInitializing" if inits else "ContainerCreating", "")
    groups = (
        ("initContainers", "initContainerStatuses", ("PodInitializing", "")),
        ("containers", "containerStatuses", initial),
        ("ephemeralContainers", "ephemeralContainerStatuses", ("", "")),
    )
    all_restart = all_containers_restart(pod, runtime, inputs)
    for group, key, default in groups:
        if spec.get(group):
            before = {container["name"]: container for container in previous.get(key, ())}
            status[key] = [
                container_status(
                    pod, group, container, runtime, before.get(container["name"], {}), default, inputs,
                    all_restart,
                )
                for container in spec[group]
            ]  # fmt: skip
    own = [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
    by_name = {container["name"]: container for container in own}
    status["phase"] = pod_phase(pod, by_name, inputs, runtime)
    reported = pod.get("status", {})
    for earlier in (previous, reported):
        if earlier.get("phase") in ENDED:
            status["phase"] = earlier["phase"]
    if status["phase"] == previous.get("phase"):
        for key in ("reason", "message"):
            if previous.get(key) or reported.get(key):
                status[key] = previous.get(key) or reported.get(key)
    if inputs.verdict is not None and reported.get("phase") not in ENDED:
        status["phase"] = "Failed"
        status["reason"], status["message"] = inputs.verdict
    _addresses(status, spec, runtime, previous, inputs)
    status["startTime"] = (
        previous.get("startTime") or reported.get("startTime") or rfc3339.seconds(inputs.now)
    )
    if pod["metadata"].get("generation"):
        status["observedGeneration"] = pod["metadata"]["generation"]
    status["qosClass"] = reported.get("qosClass") or previous.get("qosClass")
    status["conditions"] = pod_conditions(pod, status, by_name, runtime, previous, inputs)
    return {key: value for key, value in status.items() if value not in (None, "", [])}


def _addresses(
    status: Object, spec: Object, runtime: PodRuntime, previous: Object, inputs: StatusInputs
) -> None:
    if inputs.host:
        status["hostIP"] = inputs.host[0]
        status["hostIPs"] = [{"ip": address} for address in inputs.host[:2]]
    if spec.get("hostNetwork"):
        addresses = inputs.host[:2]
    else:
        sandbox = runtime.sandboxes[0] if runtime.sandboxes else None
        addresses = sandbox.addresses if sandbox is not None and sandbox.ready else ()
        # A pod whose sandbox is gone keeps reporting its last address.
        if not addresses:
            addresses = tuple(address["ip"] for address in previous.get("podIPs", ()))
    if addresses:
        status["podIP"] = addresses[0]
        status["podIPs"] = [{"ip": address} for address in addresses]
