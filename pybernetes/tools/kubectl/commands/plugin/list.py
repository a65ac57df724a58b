"""plugin list: shows the plugins on the path, and which of them can never run."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.command_line.flags import declare
from pybernetes.tools.kubectl.command_line.lookup import find
from pybernetes.tools.kubectl.command_line.plugins import listed
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import Verbatim

SUMMARY = "List all visible plugin executables on a user's PATH"
USAGE = "plugin list [flags]"
FLAGS = (
    "- name-only bool false | If true, display only the binary name of each plugin, rather than its full path\n",
)


def run(context: Context) -> None:
    """Print the files on the path that are named like plugins, with what is wrong with them."""
    plugins = list(listed(context.environment.get("PATH", ""), context.warn))
    errors: list[str] = []
    if plugins:
        context.out("The following compatible plugins are available:\n")
    else:
        errors.append("error: unable to find any kubectl plugins in your PATH")
    seen: dict[str, str] = {}
    warnings = 0
    for path in plugins:
        context.out(os.path.basename(path) if context.flags.name_only else path)
        for problem in _problems(path, seen):
            context.warn(f"  - {problem}")
            warnings += 1
    if warnings:
        errors.append(
            "error: one plugin warning was found"
            if warnings == 1
            else f"error: {warnings} plugin warnings were found"
        )
    if errors:
        raise Verbatim("\n".join(errors) + "\n")


def _problems(path: str, seen: dict[str, str]) -> list[str]:
    """Return what keeps a plugin from being run as it is named."""
    name = os.path.basename(path)
    problems = []
    try:
        if not os.stat(path).st_mode & 0o111:
            problems.append(f"warning: {path} identified as a kubectl plugin, but it is not executable")
    except OSError as error:
        why = f"stat {path}: {(error.strerror or '').lower()}"
        problems.append(f"error: unable to identify {path} as an executable file: {why}")
    if name in seen:
        problems.append(f"warning: {path} is overshadowed by a similarly named plugin: {seen[name]}")
    else:
        seen[name] = path
    command, command_path, _ = find(name.split("-")[1:], declare(shared_flags.GLOBAL))
    if command is not None:
        problems.append(f'warning: {name} overwrites existing command: "{command_path}"')
    return problems
