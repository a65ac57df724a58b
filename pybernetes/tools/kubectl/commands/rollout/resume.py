"""rollout resume."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.rollout._change import change, flags, name_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.resources.builder import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Resume a paused resource"
USAGE = "rollout resume RESOURCE"
COMPLETION = "types deployment"
FLAGS = flags("kubectl-rollout")


def _patch(info: Info) -> Object | str:
    if info.resource.kind != "Deployment":
        return f"{name_of(info)} resuming is not supported"
    if not (info.object.get("spec") or {}).get("paused"):
        return f"{name_of(info)} is not paused"
    return {"spec": {"paused": None}}


def run(context: Context) -> None:
    """Resume deployments."""
    change(context, "resumed", _patch)
