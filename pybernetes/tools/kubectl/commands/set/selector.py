"""set selector."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.set._change import change, need_resources
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.label_selector import parse_selector

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Set the selector on a resource"
USAGE = "set selector (-f FILENAME | TYPE NAME) EXPRESSIONS [--resource-version=version]"
FLAGS = (shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.RECORD, shared_flags.field_manager("kubectl-set"), """
- all bool false | all objects of the types in the namespace
- local bool false | do not ask the server
- resource-version string | only if the object has this version
- selector string |
""")  # fmt: skip


def run(context: Context) -> None:
    """Set the selector of services."""
    args = context.args
    if not args:
        raise CommandError("one selector is required")
    need_resources(context, args[:-1])
    selector = parse_selector(args[-1])

    def edit(info: Info, value: Object) -> None:
        if info.resource.kind != "Service":
            raise CommandError("setting a selector is only supported for Services")
        if expressions := selector.get("matchExpressions"):
            shown = " ".join(
                f"{{{item['key']} {item['operator']} [{' '.join(item.get('values') or ())}]}}"
                for item in expressions
            )
            raise CommandError(f"match expression [{shown}] not supported on this object")
        spec = value.setdefault("spec", {})
        spec["selector"] = selector.get("matchLabels")
        if not spec["selector"]:
            del spec["selector"]
        if context.flags.resource_version:  # sent in any case: it is what the server compares
            info.before["metadata"].pop("resourceVersion", None)
            value["metadata"]["resourceVersion"] = context.flags.resource_version

    change(context, args[:-1], "selector updated", edit, "", one_by_one=True)
