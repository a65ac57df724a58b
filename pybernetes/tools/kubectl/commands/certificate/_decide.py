"""Decides about certificate signing requests."""

from __future__ import annotations

from datetime import UTC, datetime

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object

_ATTEMPTS = 10

FLAGS = (
    shared_flags.FILES,
    shared_flags.PRINT,
    "- force bool false | decide even if this was decided before\n",
)


def decide(context: Context, kind: str, reason: str, message: str, done: str) -> None:
    """Add a condition to each request."""
    if not context.args and not context.flags.filename and not context.flags.kustomize:
        raise CommandError("one or more CSRs must be specified as <name> or -f <filename>")
    # Each may say its type itself, as `get -o name` prints it.
    args = [word if "/" in word else f"certificatesigningrequests/{word}" for word in context.args]
    builder = Builder.from_flags(
        context, args=args, continue_on_error=True, latest=True, default_namespace=False, categories=False
    )
    entry = {"type": kind, "status": "True", "reason": reason, "message": message}
    show = printers.make(context, done)

    def change(info: Info) -> None:
        _add(context, info, entry)
        show(info.object)

    if not builder.for_each(change):
        context.out("No resources found")


def _add(context: Context, info: Info, entry: Object) -> None:
    """Add a condition to a request, again if somebody else changes it meanwhile."""
    if (info.resource.group, info.resource.kind) != ("certificates.k8s.io", "CertificateSigningRequest"):
        shown = info.resource.kind + (f".{info.resource.group}" if info.resource.group else "")
        raise CommandError(
            f"can only handle CertificateSigningRequest.certificates.k8s.io objects, got {shown}"
        )
    for attempt in range(_ATTEMPTS + 1):
        value = _decided(info.object, entry, context.flags.force)
        if value is None:
            return
        try:
            context.client.replace(info.resource, "", info.name, value, subresource="approval")
            return
        except ApiError as error:
            if error.reason != "Conflict" or attempt == _ATTEMPTS:
                raise
        info.object = context.client.get(info.resource, "", info.name)


def _decided(request: Object, entry: Object, force: bool) -> Object | None:
    """Return a request with a condition; None if there is nothing to send, because it has it already."""
    status = request.get("status") or {}
    conditions = status.get("conditions") or []
    types = [condition["type"] for condition in conditions]
    other = "Denied" if entry["type"] == "Approved" else "Approved"
    if other in types:
        name = request["metadata"]["name"]
        raise CommandError(f'certificate signing request "{name}" is already {other}')
    if entry["type"] in types:
        return request if force else None
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**request, "status": {**status, "conditions": [*conditions, {**entry, "lastUpdateTime": now}]}}
