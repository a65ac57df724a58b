"""rollout restart."""

from __future__ import annotations

from datetime import datetime

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.rollout._change import change, flags, refused
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Restart a resource"
USAGE = "rollout restart RESOURCE"
COMPLETION = "types deployment daemonset statefulset"
FLAGS = flags("kubectl-rollout")
ANNOTATION = "kubectl.kubernetes.io/restartedAt"


def patch_of(info: Info, now: str) -> Object:
    """Return the patch that restarts the pods of a workload; times are of whole seconds."""
    if info.resource.kind not in ("Deployment", "DaemonSet", "StatefulSet"):
        raise refused(info, "restarting is not supported")
    spec = info.object.get("spec") or {}
    if spec.get("paused"):
        raise refused(info, "can't restart paused deployment (run rollout resume first)")
    before = ((spec.get("template") or {}).get("metadata") or {}).get("annotations") or {}
    if before.get(ANNOTATION) == now:
        raise CommandError(
            f"failed to create patch for {info.name}: if restart has already been triggered within the past second, "
            "please wait before attempting to trigger another"
        )
    return {"spec": {"template": {"metadata": {"annotations": {ANNOTATION: now}}}}}


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds").replace("+00:00", "Z")


def run(context: Context) -> None:
    """Restart the pods of workloads one after another, as an update would."""
    change(context, "restarted", lambda info: patch_of(info, _now()))
