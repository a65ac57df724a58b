"""What every generator of create shares: the name, the namespace, sending and printing."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.last_applied import annotate
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, NoConnection
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.built_in import built_in

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


COMMON = (
    shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.VALIDATE, shared_flags.SAVE_CONFIG, shared_flags.field_manager("kubectl-create"),
)  # fmt: skip


def name_of(context: Context) -> str:
    """Return the one argument that names the object."""
    count = context.flags.dash if context.flags.dash >= 0 else len(context.args)
    if count != 1:
        raise context.usage(f"exactly one NAME is required, got {count}")
    return context.args[0]


def command_of(context: Context) -> list[str]:
    """Return the arguments after the name."""
    return context.args[1:]


def metadata(context: Context, name: str, namespaced: bool = True, **more: Any) -> Object:
    """Return metadata with a name; the namespace only if it was given."""
    made: Object = {"name": name} if name else {}
    if namespaced and context.namespace_given:
        made["namespace"] = context.namespace
    return {**made, **{key: value for key, value in more.items() if value}}


def generator(
    make: Callable[[Context, str], Object], failure: str = "", *, saves: bool = True
) -> Callable[[Context], None]:
    """Return a command that makes an object and creates it; ``saves`` is false where --save-config does nothing."""

    def run(context: Context) -> None:
        name = name_of(context)
        create(context, make(context, name), failure, saves=saves)

    return run


def create(context: Context, value: Object, failure: str = "", *, saves: bool = True) -> Object:
    """Create an object, unless this is a dry run, and print it."""
    dry_run = context.dry_run()
    if context.flags.has("validate"):
        context.validation()  # complain before anything is done
    if saves and context.flags.has("save-config") and context.flags.save_config:
        value = annotate(value, typed=True)
    show = printers.make(context, "created", typed=True)
    if dry_run != "client":
        query = context.write_query()
        resource = built_in(value["kind"])
        namespace = value["metadata"].get("namespace") or context.namespace
        sent = {key: item for key, item in value.items() if key != "status"}
        try:
            made = context.client.create(resource, namespace, sent, query=query)
        except (ApiError, NoConnection) as error:
            if failure:
                raise _Wrapped(error, failure) from None
            raise
        value = ordered(made)
    show(value)
    return value


class _Wrapped(CommandError):
    """The server's refusal, after what could not be done."""

    def __init__(self, error: CommandError, failure: str) -> None:
        super().__init__(f"{failure}{error.message}")


def ordered(value: Object) -> Object:
    """Return an answer with its first fields in the order of Go's types."""
    first: Object = {key: value[key] for key in ("kind", "apiVersion") if key in value}
    return {**first, **value}


def split_port(text: str) -> tuple[str, str]:
    """Return a port and its target from port[:target]."""
    port, _, target = text.partition(":")
    return port, target or port


def int_or_text(text: str) -> int | str:
    """Return a number if the text is one, else the text."""
    return int(text) if text.isdigit() else text
