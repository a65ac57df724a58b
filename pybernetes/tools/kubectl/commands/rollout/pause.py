"""rollout pause."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.rollout._change import change, flags, name_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.resources.builder import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Mark the provided resource as paused"
USAGE = "rollout pause RESOURCE"
COMPLETION = "types deployment"
FLAGS = flags("kubectl-rollout")


def _patch(info: Info) -> Object | str:
    if info.resource.kind != "Deployment":
        return f"{name_of(info)} pausing is not supported"
    if (info.object.get("spec") or {}).get("paused"):
        return f"{name_of(info)} is already paused"
    return {"spec": {"paused": True}}


def run(context: Context) -> None:
    """Pause deployments."""
    change(context, "paused", _patch)
