"""diff: shows what apply would change."""

from __future__ import annotations

import os
import re
import subprocess

from pybernetes.tools.kubectl import TYPE_CHECKING, temporary
from pybernetes.tools.kubectl.apply.client_side import compute
from pybernetes.tools.kubectl.apply.prune import allowed, named, prunable
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, Exit, Usage, not_found, quoted
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pybernetes.api.resource import Object


SUMMARY = "Diff the live version against a would-be applied version"
USAGE = "diff -f FILENAME"
FLAGS = (shared_flags.FILES, shared_flags.SELECTOR, shared_flags.field_manager("kubectl-client-side-apply"), """
- concurrency int 1 | accepted; one object is looked at after another
- force-conflicts bool false | with --server-side, take fields that others manage
- prune bool false | show what --prune would delete
- prune-allowlist array | group/version/kind that --prune may delete
- server-side bool false | let the server apply
- show-managed-fields bool false | show managedFields
- show-secrets bool false | show the values of Secrets
""")  # fmt: skip
_ATTEMPTS = 4
_PLAIN = re.compile(r"[a-zA-Z0-9=-]+")


def run(context: Context) -> int:
    """Run a diff program on the live and the merged objects; 1 is a difference, more an error."""
    try:
        return _run(context)
    except Exit:
        raise
    except CommandError as error:
        error.code = 2 if error.code == 1 else error.code
        raise


def _run(context: Context) -> int:
    flags = context.flags
    context.refuse_arguments()
    context.require_files()
    if flags.force_conflicts and not flags.server_side:
        raise CommandError("--force-conflicts only works with --server-side")
    with (
        temporary.folder("LIVE-") as live,
        temporary.folder("MERGED-") as merged,
    ):
        kinds = named(context) if flags.prune else []
        infos = Builder.from_flags(context).all()
        for info in infos:
            before, after = _states(context, info)
            info.object = before or info.object
            _write(context, info, (live, before), (merged, after))
        for info in prunable(context, infos, allowed(context, kinds)) if flags.prune else ():
            _write(context, info, (live, info.object), (merged, None), pruned=True)
        return _compare(context, live, merged)


def _write(
    context: Context, info: Info, live: tuple[str, Any], merged: tuple[str, Any], pruned: bool = False
) -> None:
    """Write an object as it is and as it would be to a file of the same name in two folders; what is pruned as it is, and then not at all."""
    managed = pruned or context.flags.show_managed_fields
    before, after, absent = live[1], merged[1], ""
    if (
        info.resource.kind == "Secret"
        and info.resource.api_version == "v1"
        and not context.flags.show_secrets
    ):
        before, after = _masked(before, after)
        absent = "null\n"  # as the original writes a Secret that is not there
    version = info.resource.api_version.replace("/", ".")
    name = ".".join(filter(None, (version, info.resource.kind, info.namespace, info.name)))
    for folder, value in ((live[0], before), (merged[0], after)):
        if value is not None or not pruned:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(_text(value, managed) if value is not None else absent)


def _states(context: Context, info: Info, attempt: int = 1) -> tuple[Any, Any]:
    """Return an object as it is and as it would be; one that keeps changing is patched whatever it has become."""
    last = attempt == _ATTEMPTS
    flags = context.flags
    query: dict[str, Any] = {"dryRun": "All", "fieldManager": flags.field_manager}
    if not info.name:
        raise CommandError("resource name may not be empty")
    try:
        live = context.client.get(info.resource, info.namespace, info.name)
    except ApiError as error:
        if not not_found(error):
            raise
        live = None
    if flags.server_side:
        query["force"] = "true" if flags.force_conflicts else "false"
        if "field-manager" not in flags.changed:
            query["fieldManager"] = "kubectl"
        return live, context.client.patch(
            info.resource, info.namespace, info.name, info.object, "apply", query=query
        )
    if live is None:
        return None, context.client.create(info.resource, info.namespace, info.object, query=query)
    # Without the annotation that apply keeps, but not without those that others made.
    wanted = {**info.object, "metadata": {"annotations": {}, **info.object["metadata"]}}
    patch, kind = compute(info, live, wanted)
    if not patch:
        return live, live
    if not last:  # the patch is only for what was compared
        patch = {
            **patch,
            "metadata": {
                **(patch.get("metadata") or {}),
                "resourceVersion": live["metadata"]["resourceVersion"],
            },
        }
    try:
        return live, context.client.patch(info.resource, info.namespace, info.name, patch, kind, query=query)
    except ApiError as error:
        if last or error.reason != "Conflict":
            raise
    return _states(context, info, attempt + 1)


def flag_error(message: str, path: str) -> CommandError:
    """Return the error of a command line that does not fit the flags; 1 would mean that there is a difference."""
    error = Usage(message, path)
    error.code = 2
    return error


def _text(value: Object, managed: bool) -> str:
    from pybernetes.tools.kubectl.output.printers import without_managed
    from pybernetes.tools.kubectl.output.yaml.printer import dumps

    return dumps(value if managed else without_managed(value))


def _masked(before: Any, after: Any) -> tuple[Any, Any]:
    """Return secrets with stars in place of their values; values that differ are marked as before and after."""
    old, new = (before or {}).get("data") or {}, (after or {}).get("data") or {}
    results: list[Any] = []
    for value, own, mark in ((before, old, "before"), (after, new, "after")):
        if value is None:
            results.append(None)
            continue
        data = {
            key: "***"
            if old.get(key) == new.get(key) or key not in old or key not in new
            else f"*** ({mark})"
            for key in own
        }
        results.append({**value, **({"data": data} if own else {})})
    return results[0], results[1]


def program(environment: Mapping[str, str], live: str, merged: str) -> list[str]:
    """Return the command that compares two folders; of the user's, only plain options are taken, after the folders."""
    name, *options = (environment.get("KUBECTL_EXTERNAL_DIFF") or "").split(" ")
    if not name:
        return ["diff", "-u", "-N", live, merged]
    return [name, live, merged, *(option for option in options if _PLAIN.fullmatch(option))]


def _compare(context: Context, live: str, merged: str) -> int:
    command = program(context.environment, live, merged)
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        raise CommandError(
            f"failed to run {quoted(command[0])}: executable file not found in $PATH"
        ) from None
    context.stdout.write(done.stdout.decode("utf-8", "replace"))
    context.stderr.write(done.stderr.decode("utf-8", "replace"))
    if done.returncode > 1:
        raise CommandError(f"failed to run {quoted(command[0])}: exit status {done.returncode}")
    return done.returncode
