"""create cronjob."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.create._containers import template
from pybernetes.tools.kubectl.commands.create._generator import COMMON, command_of, generator, metadata
from pybernetes.tools.kubectl.context import Context

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create a cron job with the specified name"
USAGE = "create cronjob NAME --image=image --schedule='0/5 * * * ?' -- [COMMAND] [args...] [flags]"
ALIASES = ("cj",)
FLAGS = (*COMMON, """
- image string | image to run
- restart string | restart policy of the pods: OnFailure or Never
- schedule string | when to run, in the format of cron
""")  # fmt: skip
REQUIRED = ("image", "schedule")


def make(context: Context, name: str) -> Object:
    """Return a CronJob."""
    flags = context.flags
    inner = template(name, flags.image, command_of(context), flags.restart or "OnFailure")
    return {
        "kind": "CronJob",
        "apiVersion": "batch/v1",
        "metadata": metadata(context, name),
        "spec": {
            "schedule": flags.schedule,
            "jobTemplate": {"metadata": {"name": name}, "spec": {"template": inner}},
        },
        "status": {},
    }


run = generator(make, "failed to create cronjob: ")
