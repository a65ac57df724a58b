"""Defaults of pods: of every PodSpec, of templates, and of the Pod itself."""

from __future__ import annotations

from pybernetes.api.core.pod import image_names
from pybernetes.api.core.pod.volume_defaults import default_volume
from pybernetes.api.defaults.resources import default_requirements, default_resource_list
from pybernetes.api.resource import Object

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
_LEGACY_ANNOTATIONS = tuple(
    f"pod.{stage}.kubernetes.io/{name}"
    for stage in ("alpha", "beta")
    for name in ("init-containers", "init-container-statuses")
)
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE_NUMBERS = (
    ("timeoutSeconds", 1),
    ("periodSeconds", 10),
    ("successThreshold", 1),
    ("failureThreshold", 3),
)


def default_pod_template(template: Object) -> None:
    """Complete a PodTemplateSpec in place."""
    drop_legacy_annotations(template.setdefault("metadata", {}))
    default_pod_spec(template.setdefault("spec", {}))


def drop_legacy_annotations(metadata: Object) -> None:
    """Remove what described init containers before they had a field."""
    annotations = metadata.get("annotations")
    if annotations:
        for key in _LEGACY_ANNOTATIONS:
            annotations.pop(key, None)


def default_pod_spec(spec: Object) -> None:
    """Complete what every PodSpec has, in a pod and in a template.

    Fields of features that are off are dropped on the way, here and in the parts.
    """
    spec.pop("schedulingGroup", None)
    spec.pop("evictionResponders", None)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    if not spec.get("dnsPolicy"):
        spec["dnsPolicy"] = "ClusterFirst"
    if not spec.get("restartPolicy"):
        spec["restartPolicy"] = "Always"
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    if "securityContext" not in spec:
        spec["securityContext"] = {}
    if "terminationGracePeriodSeconds" not in spec:
        spec["terminationGracePeriodSeconds"] = 30
    for volume in spec.get("volumes", ()):
        default_volume(volume)
    for key in CONTAINER_LISTS:
        for container in spec.get(key, ()):
            _container(container)
    if "overhead" in spec:
        default_resource_list(spec["overhead"])
    default_requirements(spec)


def _container(container: Object) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = image_names.default_pull_policy(container.get("image", ""))
    if not container.get("terminationMessagePath"):
        container["terminationMessagePath"] = "/dev/termination-log"
    if not container.get("terminationMessagePolicy"):
        container["terminationMessagePolicy"] = "File"
    # Go writes this struct even when it is empty.
    if "resources" in container:
        default_requirements(container)
    else:
        container["resources"] = {}
    for port in container.get("ports", ()):
        if not port.get("protocol"):
            port["protocol"] = "TCP"
    for variable in container.get("env", ()):
        if "valueFrom" in variable:
            _value_from(variable["valueFrom"])
    for key in _PROBES:
        if key in container:
            _probe(container[key])
    for mount in container.get("volumeMounts", ()):
        mount.pop("bindMountOptions", None)
    if "lifecycle" in container:
        _lifecycle(container)


def _lifecycle(container: Object) -> None:
    lifecycle = container["lifecycle"]
    if lifecycle.pop("stopSignal", None) is not None and not lifecycle:
        del container["lifecycle"]
    for handler in lifecycle.values():
        if "httpGet" in handler:
            _http_get(handler["httpGet"])


def _value_from(source: Object) -> None:
    reference = source.get("fieldRef")
    if reference is not None and not reference.get("apiVersion"):
        reference["apiVersion"] = "v1"
    if "fileKeyRef" in source:
        source["fileKeyRef"].setdefault("optional", False)


def _probe(probe: Object) -> None:
    for key, value in _PROBE_NUMBERS:
        if not probe.get(key):
            probe[key] = value
    if "httpGet" in probe:
        _http_get(probe["httpGet"])
    if "grpc" in probe:
        probe["grpc"].setdefault("service", "")
        probe["grpc"].pop("mode", None)


def _http_get(action: Object) -> None:
    if not action.get("path"):
        action["path"] = "/"
    if not action.get("scheme"):
        action["scheme"] = "HTTP"
    action.pop("protocol", None)


def default_pod(pod: Object) -> None:
    """Complete a Pod: its spec, what only pods have, and the two forms of its address."""
    drop_legacy_annotations(pod.get("metadata", {}))
    spec = pod.setdefault("spec", {})
    default_pod_spec(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    if "enableServiceLinks" not in spec:
        spec["enableServiceLinks"] = True
    host_network = spec.get("hostNetwork")
    for key in ("containers", "initContainers"):
        for container in spec.get(key, ()):
            _requests_from_limits(container["resources"])
            if host_network:
                for port in container.get("ports", ()):
                    if not port.get("hostPort"):
                        port["hostPort"] = port.get("containerPort", 0)
    status = pod.get("status")
    if status:
        default_pod_status(status)


def _requests_from_limits(resources: Object) -> None:
    limits = resources.get("limits")
    if limits:
        requests = resources.setdefault("requests", {})
        for name, amount in limits.items():
            requests.setdefault(name, amount)


def default_pod_status(status: Object) -> None:
    """Keep the single address and the list of addresses in step; the single one wins."""
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")
