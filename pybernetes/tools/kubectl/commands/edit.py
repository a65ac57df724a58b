"""edit: changes objects in an editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from typing import Any

from pybernetes.tools.kubectl import flagsets, printers
from pybernetes.tools.kubectl.builder import Builder, Info
from pybernetes.tools.kubectl.commands.set_._change import difference
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Exit
from pybernetes.tools.kubectl.lastapplied import annotate, read

SUMMARY = "Edit a resource on the server"
USAGE = "edit (RESOURCE/NAME | -f FILENAME)"
FLAGS = (
    flagsets.FILES, flagsets.PRINT, flagsets.VALIDATE, flagsets.SAVE_CONFIG, flagsets.RECORD,
    flagsets.field_manager("kubectl-edit"),
    """
- output-patch bool false | print the patch that is sent
- subresource string | edit this subresource
- windows-line-endings bool false | end lines as Windows does
""",
)  # fmt: skip
_HEAD = """# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
"""


def run(context: Context) -> None:
    """Edits what the arguments name, one object after another."""
    flags = context.flags
    if flags.output_patch and flags.output:
        raise CommandError("--output-patch and --output are mutually exclusive")
    builder = Builder.from_flags(context, latest=True, subresource=flags.subresource, empty_selector=True)
    infos = builder.all()
    if not infos:
        raise CommandError("edit cancelled, no objects found")
    for info in infos:
        _edit(context, info)


def _text(value: dict[str, Any], form: str, managed: bool) -> str:
    plain = value if managed else printers.without_managed(value)
    if form == "json":
        from pybernetes.tools.kubectl.printers.json import dumps as json_dumps

        return json_dumps(plain) + "\n"
    from pybernetes.tools.kubectl.printers.yaml import dumps

    return dumps(plain)


def in_editor(context: Context, text: str, suffix: str) -> str:
    """What the user makes of a text."""
    environment = context.environment
    program = environment.get("KUBE_EDITOR") or environment.get("EDITOR") or "vi"
    handle, path = tempfile.mkstemp(prefix="kubectl-edit-", suffix=suffix)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            code = subprocess.run(["/bin/sh", "-c", f"{program} {shlex.quote(path)}"], check=False).returncode
        except OSError as error:
            raise CommandError(f"unable to launch the editor {program!r}: {error}") from None
        if code:
            raise CommandError(f'there was a problem with the editor "{program}"')
        with open(path, encoding="utf-8") as file:
            return file.read()
    finally:
        os.unlink(path)


def _parsed(text: str) -> Any:
    from pybernetes.api.yaml_text import YamlError, loads

    lines = "\n".join(line for line in text.split("\n") if not line.startswith("#"))
    if not lines.strip():
        return None
    try:
        return loads(lines.encode())[0]
    except YamlError as error:
        raise CommandError(f"The edited file had a syntax error: {error}") from None


def _edit(context: Context, info: Info) -> None:
    flags = context.flags
    form = "json" if flags.output == "json" else "yaml"
    original = _text(info.object, form, flags.show_managed_fields)
    head, body = _HEAD, original
    while True:
        edited = in_editor(context, head + body, f".{form}")
        if edited == head + body and head == _HEAD:
            context.warn("Edit cancelled, no changes made.")
            return
        if edited == head + body:
            context.warn("Edit cancelled, no valid changes were saved.")
            raise Exit(1)
        try:
            value = _parsed(edited)
            if value is None:
                context.warn("Edit cancelled, saved file was empty.")
                return
            before = info.object if flags.show_managed_fields else printers.without_managed(info.object)
            if value == before:
                context.warn("Edit cancelled, no changes made.")
                return
            _send(context, info, before, value)
            return
        except CommandError as error:
            lines = error.text().splitlines()
            head = _HEAD + "".join(f"# {line}\n" for line in lines) + "#\n"
            body = "\n".join(line for line in edited.split("\n") if not line.startswith("#"))


def _send(context: Context, info: Info, before: dict[str, Any], after: dict[str, Any]) -> None:
    flags = context.flags
    if flags.save_config or (read(before) is not None and "save-config" not in flags.changed):
        after = annotate(after)
    patch, kind = difference(info, before, after)
    version = before["metadata"].get("resourceVersion")
    if version and after["metadata"].get("resourceVersion") == version:
        patch.setdefault("metadata", {})["resourceVersion"] = version
    if flags.output_patch:
        from pybernetes.tools.kubectl.printers.json import dumps

        context.out(f"Patch: {dumps(patch, indent=None)}")
    value = context.client.patch(
        info.resource,
        info.namespace,
        info.name,
        patch,
        kind,
        query=context.write_query(),
        subresource=flags.subresource,
    )
    printers.make(context, "edited")(value)


def edit_files(context: Context, verb: str) -> None:
    """Lets the user edit the objects of files before they are created."""
    for info in Builder.from_flags(context).infos():
        value = _parsed(in_editor(context, _HEAD + _text(info.object, "yaml", True), ".yaml"))
        if value is None:
            context.warn("Edit cancelled, saved file was empty.")
            continue
        made = context.client.create(info.resource, info.namespace, value, query=context.write_query())
        printers.make(context, f"{verb}d")(made)
