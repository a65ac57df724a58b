"""Decides about certificate signing requests."""

from __future__ import annotations

from datetime import UTC, datetime

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder

FLAGS = (
    shared_flags.FILES,
    shared_flags.PRINT,
    "- force bool false | decide even if this was decided before\n",
)


def decide(context: Context, kind: str, reason: str, message: str, done: str) -> None:
    """Add a condition to each request."""
    flags = context.flags
    if not context.args and not flags.filename:
        raise CommandError("one or more CSRs must be specified as <name> or -f <filename>")
    # Each may say its type itself, as `get -o name` prints it.
    args = [word if "/" in word else f"certificatesigningrequests/{word}" for word in context.args]
    builder = Builder.from_flags(context, args=args, continue_on_error=True, latest=True, categories=False)
    other = "Denied" if kind == "Approved" else "Approved"
    count = 0
    for info in builder.infos():
        count += 1
        conditions = (info.object.get("status") or {}).get("conditions") or []
        types = [condition["type"] for condition in conditions]
        if other in types:
            builder.errors.append(
                CommandError(f'certificate signing request "{info.name}" is already {other}')
            )
            continue
        if kind not in types or flags.force:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            entry = {
                "type": kind,
                "status": "True",
                "reason": reason,
                "message": message,
                "lastUpdateTime": now,
            }
            conditions = [*(condition for condition in conditions if condition["type"] != kind), entry]
            value = {**info.object, "status": {**(info.object.get("status") or {}), "conditions": conditions}}
            try:
                context.client.replace(info.resource, "", info.name, value, subresource="approval")
            except CommandError as error:
                builder.errors.append(error)
                continue
        printers.make(context, done)(info.object)
    builder.finish()
    if not count:
        context.out("No resources found")
