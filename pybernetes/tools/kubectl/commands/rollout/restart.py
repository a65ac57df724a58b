"""rollout restart."""

from __future__ import annotations

from datetime import datetime

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.rollout._change import change, flags, name_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Restart a resource"
USAGE = "rollout restart RESOURCE"
COMPLETION = "types deployment daemonset statefulset"
FLAGS = flags("kubectl-rollout")


def _patch(info: Info) -> Object | str:
    if info.resource.kind not in ("Deployment", "DaemonSet", "StatefulSet"):
        return f"{name_of(info)} restarting is not supported"
    if (info.object.get("spec") or {}).get("paused"):
        return "can't restart paused deployment (run rollout resume first)"
    now = datetime.now().astimezone().isoformat(timespec="seconds").replace("+00:00", "Z")
    annotations = {"kubectl.kubernetes.io/restartedAt": now}
    return {"spec": {"template": {"metadata": {"annotations": annotations}}}}


def run(context: Context) -> None:
    """Restart the pods of workloads one after another, as an update would."""
    change(context, "restarted", _patch)
