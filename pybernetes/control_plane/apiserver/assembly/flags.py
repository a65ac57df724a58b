"""The flags of kube-apiserver, by the part of the server that declares them."""

from __future__ import annotations

from collections.abc import Sequence

from pybernetes.api import feature_gates
from pybernetes.control_plane.apiserver.admission import setup as admission
from pybernetes.control_plane.apiserver.aggregation import proxy
from pybernetes.control_plane.apiserver.assembly import runtime_config, secure_serving, upstream_flags
from pybernetes.control_plane.apiserver.audit import setup as audit
from pybernetes.control_plane.apiserver.authn import setup as authentication
from pybernetes.control_plane.apiserver.authz import setup as authorization
from pybernetes.control_plane.apiserver.encryption import setup as encryption
from pybernetes.control_plane.apiserver.flowcontrol import priority_level
from pybernetes.control_plane.apiserver.proxy import egress_selector, kubelets
from pybernetes.control_plane.apiserver.services import options as services
from pybernetes.control_plane.store import open as storage
from pybernetes.lib.flags import Flag, Seconds

_WATCHDOG = Flag(
    "event-loop-watchdog",
    Seconds(0),
    "log each turn of the event loop that takes this much processor time, and count them in metrics; 0 is off",
)
_COMPACTION = Flag("etcd-compaction-interval", Seconds(300), "how often history is let go; 0 keeps it")
_MEDIA_TYPE = Flag(
    "storage-media-type",
    "application/json",
    "form in which built-in kinds are stored: application/json, or application/vnd.kubernetes.protobuf as upstream does by default; custom resources are JSON",
)


def groups() -> dict[str, Sequence[Flag]]:
    """Return every flag under the title that the help shows it below; drivers and plugins declare their own."""
    return {
        "serving": [*secure_serving.FLAGS, _WATCHDOG],
        "storage": [*storage.flags(), *encryption.FLAGS, _COMPACTION, _MEDIA_TYPE],
        "authentication": authentication.flags(),
        "audit": audit.FLAGS,
        "nodes": [*kubelets.FLAGS, *egress_selector.FLAGS],
        "aggregation": proxy.FLAGS,
        "flow control": priority_level.FLAGS,
        "authorization": authorization.flags(),
        "admission": admission.flags(),
        "services": services.FLAGS,
        "process": upstream_flags.PROCESS_FLAGS,
        "flags of upstream without an effect": upstream_flags.OTHER_FLAGS,
        "features": [feature_gates.FLAG, *runtime_config.FLAGS],
    }
