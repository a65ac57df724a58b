"""kuberc view: shows the preferences."""

from __future__ import annotations

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.command_line.preferences import VERSION
from pybernetes.tools.kubectl.commands.kuberc._preferences import chosen, load, shown, write
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers

SUMMARY = "Display the current kuberc configuration"
USAGE = "kuberc view"
FLAGS = (shared_flags.PRINT,)


def run(context: Context) -> None:
    """Print the file; offer to make one where there is none."""
    path, explicit = chosen(context)
    try:
        preference = load(path)
    except FileNotFoundError:
        if explicit:
            raise CommandError(f"kuberc file not found at {path}") from None
        _offer(context, path)
        return
    if not context.flags.output and not context.flags.template:
        context.flags.set("output", "yaml")
    printers.make(context, typed=True)(shown(preference or {}))


def _offer(context: Context, path: str) -> None:
    context.out(f"kuberc file not found at {path}")
    context.stdout.write("Would you like to generate a default kuberc file with recommended options? (y/N): ")
    context.stdout.flush()
    if context.stdin.readline().strip().lower() != "y":
        return
    wanted = (("apply", "server-side"), ("delete", "interactive"))
    defaults = [{"command": word, "options": [{"name": flag, "default": "true"}]} for word, flag in wanted]
    write(path, {"apiVersion": VERSION, "kind": "Preference", "defaults": defaults})
    context.out(f"Updated {path}")
