"""create token: asks for a token of a service account."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.create._generator import name_of
from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, NoConnection
from pybernetes.tools.kubectl.resources.built_in import built_in

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Request a service account token"
USAGE = "create token SERVICE_ACCOUNT_NAME"
COMPLETION = "names serviceaccounts"
FLAGS = (shared_flags.PRINT, """
- audience array | audience of the token; may be repeated
- bound-object-kind string | kind of an object that the token shall not outlive: Node, Pod or Secret
- bound-object-name string | name of that object
- bound-object-uid string | UID of that object
- duration duration 0s | how long the token shall be valid
""")  # fmt: skip
_KINDS = {"Pod": "v1", "Secret": "v1", "Node": "v1"}


def run(context: Context) -> None:
    """Print a token."""
    flags = context.flags
    name = name_of(context)
    _check(context)
    spec: Object = {
        "audiences": flags.audience or None,
        "expirationSeconds": None,
        "boundObjectRef": None,
    }
    if flags.duration > 0:
        spec["expirationSeconds"] = int(flags.duration)
    if flags.bound_object_kind:
        reference = {"kind": flags.bound_object_kind, "apiVersion": _KINDS[flags.bound_object_kind]}
        reference["name"] = flags.bound_object_name
        if flags.bound_object_uid:
            reference["uid"] = flags.bound_object_uid
        spec["boundObjectRef"] = reference
    body = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "metadata": {}, "spec": spec}
    path = path_of(built_in("ServiceAccount"), context.namespace, name, "token")
    try:
        answer = context.client.json("POST", path, body)
    except (ApiError, NoConnection) as error:
        raise CommandError(f"failed to create token: {error.message}") from None
    if flags.output in ("", None):
        token = (answer.get("status") or {}).get("token")
        if not token:
            raise CommandError("failed to create token: no token in server response")
        context.stdout.write(f"{token}\n" if context.stdout.isatty() else token)
        return
    from pybernetes.tools.kubectl.output import printers

    printers.make(context, typed=True)(answer)


def _check(context: Context) -> None:
    flags = context.flags
    if flags.duration < 0:
        raise CommandError("--duration must be greater than or equal to 0")
    if flags.duration % 1:
        raise CommandError("--duration cannot be expressed in units less than seconds")
    if "" in flags.audience:
        raise CommandError("--audience must not be an empty string")
    if not flags.bound_object_kind:
        for name in ("bound-object-name", "bound-object-uid"):
            if getattr(flags, name.replace("-", "_")):
                raise CommandError(f"--{name} can only be set if --bound-object-kind is provided")
        return
    if flags.bound_object_kind not in _KINDS:
        raise CommandError(f"supported --bound-object-kind values are {', '.join(sorted(_KINDS))}")
    if not flags.bound_object_name:
        raise CommandError("--bound-object-name is required if --bound-object-kind is provided")
