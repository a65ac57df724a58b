"""create priorityclass."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._generator import COMMON, generator, metadata
from pybernetes.tools.kubectl.context import Context

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a priority class with the specified name"
USAGE = "create priorityclass NAME --value=VALUE --global-default=BOOL [--dry-run=server|client|none]"
ALIASES = ("pc",)
FLAGS = (*COMMON, """
- description string | what the class is for
- global-default bool false | make it the class of pods that name none
- preemption-policy string PreemptLowerPriority | whether pods of the class may push others out
- value int 0 | the priority
""")  # fmt: skip


def make(context: Context, name: str) -> Object:
    """Return a PriorityClass."""
    flags = context.flags
    priority_class: Object = {
        "kind": "PriorityClass",
        "apiVersion": "scheduling.k8s.io/v1",
        "metadata": metadata(context, name, False),
        "value": flags.value,
    }
    if flags.global_default:
        priority_class["globalDefault"] = True
    if flags.description:
        priority_class["description"] = flags.description
    if flags.preemption_policy:
        priority_class["preemptionPolicy"] = flags.preemption_policy
    return priority_class


run = generator(make, "failed to create priorityclass: ")
