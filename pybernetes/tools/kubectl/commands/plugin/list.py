"""plugin list: finds plugins; running them is not supported."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

SUMMARY = "List all visible plugin executables on a user's PATH"
USAGE = "plugin list"
FLAGS = ("- name-only bool false | names without paths\n",)


def run(context: Context) -> None:
    """Print the programs on the path that are named like plugins."""
    programs = []
    for folder in context.environment.get("PATH", "").split(os.pathsep):
        try:
            entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
        except OSError:
            continue
        programs += [
            entry for entry in entries if entry.name.startswith("kubectl-") and os.access(entry.path, os.X_OK)
        ]
    if not programs:
        raise CommandError("unable to find any kubectl plugins in your PATH")
    context.out("The following compatible plugins are available:\n")
    for entry in programs:
        context.out(entry.name if context.flags.name_only else entry.path)
