"""create priorityclass."""

from __future__ import annotations

from pybernetes.tools.kubectl.commands.create._make import COMMON, Object, generator, metadata
from pybernetes.tools.kubectl.context import Context

SUMMARY = "Create a priority class with the specified name"
USAGE = "create priorityclass NAME --value=VALUE --global-default=BOOL [--dry-run=server|client|none]"
FLAGS = (*COMMON, """
- description string | what the class is for
- global-default bool false | make it the class of pods that name none
- preemption-policy string PreemptLowerPriority | whether pods of the class may push others out
- value int 0 | the priority
""")  # fmt: skip


def make(context: Context, name: str) -> Object:
    """A PriorityClass."""
    flags = context.flags
    found: Object = {
        "kind": "PriorityClass",
        "apiVersion": "scheduling.k8s.io/v1",
        "metadata": metadata(context, name, False),
        "value": flags.value,
    }
    if flags.global_default:
        found["globalDefault"] = True
    if flags.description:
        found["description"] = flags.description
    if flags.preemption_policy:
        found["preemptionPolicy"] = flags.preemption_policy
    return found


run = generator(make, "failed to create priorityclass: ")
