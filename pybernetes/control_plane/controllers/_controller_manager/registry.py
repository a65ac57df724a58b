"""All controllers of the kube-controller-manager together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib.discover import discover
from pybernetes.runtime.controller_manager import selection
from pybernetes.runtime.controller_manager.selection import add_all, flags

__all__ = ["ABSENT", "PACKAGE", "add_all", "descriptors", "flags", "select"]

PACKAGE = "pybernetes.control_plane.controllers"


def descriptors() -> dict[str, Descriptor]:
    """Return every controller by its name."""
    return discover(PACKAGE, "CONTROLLER", key=lambda descriptor: descriptor.name)


_DRIVERS = "volumes of drivers, which it attaches and grows, are not served by this kubelet"
_CLAIMS = "devices of drivers are not prepared by this kubelet"
_VERSIONS = "API servers store every kind in one version, and report none"
# Controllers of upstream that are not here, under all of their names, and why.
ABSENT = {
    "persistentvolume-attach-detach-controller": _DRIVERS,
    "attachdetach": _DRIVERS,
    "persistentvolume-expander-controller": _DRIVERS,
    "persistentvolume-expander": _DRIVERS,
    "resourceclaim-controller": _CLAIMS,
    "resource-claim-controller": _CLAIMS,
    "device-taint-eviction-controller": _CLAIMS,
    "resourcepoolstatusrequest-controller": _CLAIMS,
    "podgroup-protection-controller": "pods are not scheduled in groups",
    "selinux-warning-controller": "volumes are not labelled for SELinux by this kubelet",
    "storageversion-garbage-collector-controller": _VERSIONS,
    "storage-version-gc": _VERSIONS,
    # Upstream's manager knows these names and leaves them to the cloud controller manager.
    "service-lb-controller": "the cloud-controller-manager runs it",
    "node-route-controller": "the cloud-controller-manager runs it",
    "cloud-node-lifecycle-controller": "the cloud-controller-manager runs it",
}


def select(asked: Sequence[str], known: Mapping[str, Descriptor]) -> list[Descriptor]:
    """Return the controllers that a list of names selects, as ``selection.select`` does, with what is not here named."""
    return selection.select(asked, known, {name: why for name, why in ABSENT.items() if name not in known})
