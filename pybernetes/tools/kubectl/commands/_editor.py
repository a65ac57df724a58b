"""Objects in the editor of the user."""

from __future__ import annotations

import os
import shlex
import subprocess

from pybernetes.api.resource import Object
from pybernetes.tools.kubectl import TYPE_CHECKING, temporary
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from typing import Any


HEAD = """# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
"""


def as_text(value: Object, form: str) -> str:
    """Return an object as the editor shows it: as ``json`` or ``yaml``."""
    if form == "json":
        from pybernetes.tools.kubectl.output.json import dumps as json_dumps

        return json_dumps(value) + "\n"
    from pybernetes.tools.kubectl.output.yaml.printer import dumps

    return dumps(value)


def in_editor(context: Context, text: str, suffix: str) -> tuple[str, str]:
    """Return the text as the user edited it, and the file that it is kept in."""
    environment = context.environment
    program = environment.get("KUBE_EDITOR") or environment.get("EDITOR") or "vi"
    handle, path = temporary.file("kubectl-edit-", suffix)
    line_end = "\r\n" if context.flags.windows_line_endings else "\n"
    with os.fdopen(handle, "w", encoding="utf-8", newline=line_end) as file:
        file.write(text)
    quotes = any(mark in program for mark in "\"'\\")
    command = ["/bin/sh", "-c", f"{program} {shlex.quote(path)}"] if quotes else [*program.split(), path]
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError:
        if "/" not in command[0]:
            raise CommandError(f'unable to launch the editor "{program}"') from None
        code = 1
    if code:
        raise CommandError(f'there was a problem with the editor "{program}"')
    with open(path, encoding="utf-8") as file:
        return file.read(), path


def without_comments(text: str) -> str:
    """Return a text without its comments."""
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


def parsed(text: str) -> Any:
    """Return the object in an edited text; None if there is none."""
    from pybernetes.api.text.yaml_reader import YamlError, loads

    lines = without_comments(text)
    if not lines.strip():
        return None
    try:
        return loads(lines.encode())[0]
    except YamlError as error:
        raise CommandError(str(error)) from None


def edit_object(context: Context, value: Object) -> Any:
    """Return an object as the user edited it, once; None, and say why, if there is nothing to do."""
    original = as_text(value, "yaml")
    edited, path = in_editor(context, HEAD + original, ".yaml")
    os.unlink(path)
    if without_comments(edited) == without_comments(original):
        context.warn("Edit cancelled, no changes made.")
        return None
    changed = parsed(edited)
    if changed is None:
        context.warn("Edit cancelled, saved file was empty.")
    return changed
