"""auth reconcile: makes roles and bindings hold at least what files say."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl import flagsets, printers
from pybernetes.tools.kubectl.builder import Builder, Info
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, not_found

SUMMARY = "Reconciles rules for RBAC role, role binding, cluster role, and cluster role binding objects"
USAGE = "auth reconcile -f FILENAME"
FLAGS = (flagsets.FILES, flagsets.PRINT, flagsets.DRY_RUN, """
- remove-extra-permissions bool false | take away permissions that the files do not name
- remove-extra-subjects bool false | take away subjects that the files do not name
""")  # fmt: skip


def run(context: Context) -> None:
    """Reconciles each object of the files."""
    if context.args:
        raise CommandError("no arguments are allowed")
    if not context.flags.filename and not context.flags.kustomize:
        raise CommandError("must specify one of -f and -k")
    dry_run = context.dry_run()
    if dry_run == "server":
        raise CommandError("--dry-run=server for command reconcile is not supported yet")
    builder = Builder.from_flags(context, continue_on_error=True)
    show = printers.make(context, "reconciled")
    for info in builder.infos():
        if info.resource.group != "rbac.authorization.k8s.io":
            continue
        try:
            show(_reconcile(context, info, dry_run))
        except CommandError as error:
            builder.errors.append(error)
    builder.finish()


def _reconcile(context: Context, info: Info, dry_run: str) -> dict[str, Any]:
    flags = context.flags
    wanted = info.object
    try:
        live = context.client.get(info.resource, info.namespace, info.name)
    except CommandError as error:
        if not not_found(error):
            raise
        return wanted if dry_run == "client" else context.client.create(info.resource, info.namespace, wanted)
    key, extra = (
        ("rules", flags.remove_extra_permissions)
        if "Binding" not in info.resource.kind
        else ("subjects", flags.remove_extra_subjects)
    )
    merged = list(wanted.get(key) or []) if extra else [
        *(live.get(key) or []), *(each for each in wanted.get(key) or () if each not in (live.get(key) or [])),
    ]  # fmt: skip
    value = {**live, key: merged}
    if value == live or dry_run == "client":
        return value
    if key == "subjects" and live.get("roleRef") != wanted.get("roleRef"):
        context.client.delete(info.resource, info.namespace, info.name)
        return context.client.create(info.resource, info.namespace, wanted)
    return context.client.replace(info.resource, info.namespace, info.name, value)
