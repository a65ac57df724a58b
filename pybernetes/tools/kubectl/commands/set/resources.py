"""set resources."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.set._change import COMMON, change, matching, no_template, pod_spec
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.quantities import parse_list

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Update resource requests/limits on objects with pod templates"
USAGE = "set resources (-f FILENAME | TYPE NAME)  ([--limits=LIMITS & --requests=REQUESTS]"
FLAGS = (*COMMON, shared_flags.RECORD, shared_flags.field_manager("kubectl-set"), """
c containers string * | containers to change; * may stand for anything
- limits string | limits as resource=quantity pairs
- requests string | requests as resource=quantity pairs
""")  # fmt: skip


def run(context: Context) -> None:
    """Set limits and requests."""
    flags = context.flags
    wanted: dict[str, Object] = {}

    def validate() -> None:
        if not flags.limits and not flags.requests:
            raise CommandError(
                "you must specify an update to requests or limits (in the form of --requests/--limits)"
            )
        for key, text in (("limits", flags.limits), ("requests", flags.requests)):
            if text:
                wanted[key] = parse_list(text, "invalid")

    def edit(info: Info, value: Object) -> None:
        spec = pod_spec(value)
        if spec is None:
            raise no_template(context, info)
        for listed in (spec.get("initContainers") or [], spec.get("containers") or []):
            chosen = matching(listed, flags.containers)
            if not chosen and listed is spec.get("containers"):
                raise CommandError(f"error: unable to find container named {flags.containers}")
            for container in chosen:
                resources = container.setdefault("resources", {})
                for key, amounts in wanted.items():
                    resources[key] = {**(resources.get(key) or {}), **amounts}

    change(
        context,
        context.args,
        "resource requirements updated",
        edit,
        "failed to patch resources update to pod template ",
        validate,
    )
