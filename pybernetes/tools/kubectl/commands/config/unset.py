"""config unset: removes one value."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.commands.config._file import needs_help, store_current
from pybernetes.tools.kubectl.commands.config.set import split
from pybernetes.tools.kubectl.config_changes import changing, default_file, entries, store
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Unset an individual value in a kubeconfig file"
USAGE = "config unset PROPERTY_NAME"
FLAGS = ()


def run(context: Context) -> None:
    """Remove a value, an entry, or all entries."""
    if len(context.args) != 1:
        raise needs_help(context, f"Unexpected args: [{' '.join(context.args)}]")
    name = context.args[0]
    if not name:
        raise CommandError("you must specify a property")
    kind, entry, field = split(name)
    if kind == "current-context":
        store_current(context, "")
    elif kind == "preferences":
        with changing(default_file(context)) as content:
            content["preferences"] = {}
    elif not entry:
        for known in entries(context, kind):
            store(context, kind, known, None)
    elif not field:
        if entry in entries(context, kind):
            store(context, kind, entry, None)
    else:
        value: Object = dict(entries(context, kind).get(entry) or {})
        if field in value:
            value.pop(field)
            store(context, kind, entry, value)
    context.out(f"Property {quoted(name)} unset.")
