"""The checks of v1.37 by name and in upstream's order: what must have happened before a server is ready."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from pybernetes.control_plane.apiserver.observability.health import Check, Health
from pybernetes.control_plane.apiserver.observability.store_check import StoreCheck
from pybernetes.lib.files.regular import read_whole

# What happens once after the start; each fails until it has.
STEPS = (
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
)
# The store gives up by itself a little after nobody waits for it any more.
_MARGIN_SECONDS = 1.0
# Those of them that follow objects of the store.
_INFORMERS = (
    "generic-apiserver-start-informers",
    "priority-and-fairness-config-consumer",
    "start-apiextensions-informers",
    "start-kube-aggregator-informers",
)


def register(
    health: Health,
    store: Callable[[float], Awaitable[None]],
    certificate: Callable[[], Path | None],
    readiness: Mapping[str, tuple[Check, bool]],
    seconds: tuple[float, float] = (2.0, 2.0),
) -> None:
    """Register every check; ``store`` asks the store within a time: that of health and readiness as ``seconds`` has them.

    ``readiness`` has those that only Pybernetes has, and whether they merely tell."""
    health.add("log", check_log)
    health.add("loopback-serving-certificate", lambda: check_certificate(certificate()), ("healthz", "livez"))
    # Those of one time are one question.
    asked = {limit: StoreCheck(partial(store, limit + _MARGIN_SECONDS), limit) for limit in seconds}
    health.add("etcd", asked[seconds[0]])
    health.add("etcd-readiness", asked[seconds[1]], ("readyz",))
    for name, (check, informative) in readiness.items():
        health.add(name, check, ("readyz",), informative=informative)
    health.add("informer-sync", lambda: _check_informers(health), ("readyz",))
    health.add_steps(STEPS)


def check_log() -> str | None:
    """Check that the log can be written."""
    for handler in logging.getLogger().handlers:
        try:
            handler.flush()
        except (OSError, ValueError) as error:
            return f"logging blocked: {error}"
    return None


def check_certificate(path: Path | None, clock: Callable[[], float] = time.time) -> str | None:
    """Check that the certificate which this server shows, also to itself, is still valid."""
    if path is None:
        return None
    from cryptography import x509  # seldom asked for

    end = x509.load_pem_x509_certificate(read_whole(path)).not_valid_after_utc
    return "expired loopback server certificate" if end.timestamp() < clock() else None


def _check_informers(health: Health) -> str | None:
    late = health.unfinished(_INFORMERS)
    return f"{len(late)} informers not synced yet: [{' '.join(late)}]" if late else None
