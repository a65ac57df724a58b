"""Pod: containers that run together on one node.

``log``, ``exec`` and the other subresources are served by the API server; the rules of those that write
(``ephemeralcontainers`` and ``resize``) are in ``prepare``, ``validation.update`` and ``validation.resize``.
"""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.core.pod.columns import COLUMNS, address
from pybernetes.api.core.pod.defaults import default_pod
from pybernetes.api.core.pod.prepare import (
    app_armor_warnings,
    prepare_create,
    prepare_ephemeral_containers,
    prepare_resize,
    prepare_status_update,
    prepare_update,
)
from pybernetes.api.core.pod.validation.pod import validate_pod, validate_pod_create
from pybernetes.api.core.pod.validation.resize import validate_resize
from pybernetes.api.core.pod.validation.status import validate_pod_status
from pybernetes.api.core.pod.validation.update import (
    validate_ephemeral_containers_update,
    validate_pod_update,
)
from pybernetes.api.core.pod.validation.warnings import pod_warnings
from pybernetes.api.resource import Object, Resource, Rules

_TERMINAL = ("Succeeded", "Failed")


def grace_period(pod: Object, asked: int | None) -> int:
    """Return how long the containers get to end: no time if none can be running."""
    spec = pod.get("spec", {})
    if not spec.get("nodeName") or pod.get("status", {}).get("phase") in _TERMINAL:
        return 0
    period = spec.get("terminationGracePeriodSeconds", 0) if asked is None else asked
    return 1 if period < 0 else period


def _spec_text(key: str) -> Callable[[Object], str]:
    return lambda pod: pod.get("spec", {}).get(key, "")


def _status_text(key: str) -> Callable[[Object], str]:
    return lambda pod: pod.get("status", {}).get(key, "")


RESOURCE = Resource(
    group="",
    version="v1",
    kind="Pod",
    plural="pods",
    short_names=("po",),
    categories=("all",),
    subresources=(
        "attach", "binding", "ephemeralcontainers", "eviction", "exec", "log", "portforward", "proxy",
        "resize", "status",
    ),
    rules={
        "ephemeralcontainers": Rules(prepare_ephemeral_containers, validate_ephemeral_containers_update),
        "resize": Rules(prepare_resize, validate_resize),
    },
    generation=True,
    columns=COLUMNS,
    selectable={
        "spec.nodeName": _spec_text("nodeName"),
        "spec.restartPolicy": _spec_text("restartPolicy"),
        "spec.schedulerName": _spec_text("schedulerName"),
        "spec.serviceAccountName": _spec_text("serviceAccountName"),
        "spec.hostNetwork": lambda pod: "true" if pod.get("spec", {}).get("hostNetwork") else "false",
        "status.phase": _status_text("phase"),
        "status.podIP": address,
        "status.nominatedNodeName": _status_text("nominatedNodeName"),
    },
    default=default_pod,
    prepare_create=prepare_create,
    prepare_update=prepare_update,
    prepare_status_update=prepare_status_update,
    validate=validate_pod,
    validate_create=validate_pod_create,
    validate_update=validate_pod_update,
    validate_status_update=validate_pod_status,
    warnings=pod_warnings,
    early_warnings=app_armor_warnings,
    grace_period=grace_period,
)  # fmt: skip
