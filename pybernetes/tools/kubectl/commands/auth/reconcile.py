"""auth reconcile: makes roles and bindings hold at least what files say."""

from __future__ import annotations

from typing import NamedTuple

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.auth._rules import not_covered, shown
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, not_found
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import built_in
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Reconciles rules for RBAC role, role binding, cluster role, and cluster role binding objects"
USAGE = "auth reconcile -f FILENAME"
FLAGS = (shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, """
- remove-extra-permissions bool false | take away permissions that the files do not name
- remove-extra-subjects bool false | take away subjects that the files do not name
""")  # fmt: skip


class Report(NamedTuple):
    """What was needed for an object: create, recreate, update or nothing, and what was added and taken away."""

    operation: str
    missing: list[Object]
    extra: list[Object]


def run(context: Context) -> None:
    """Reconcile each object of the files."""
    if context.args:
        raise CommandError("no arguments are allowed")
    context.require_files()
    dry_run = context.dry_run()
    if dry_run == "server":
        raise CommandError("--dry-run=server for command reconcile is not supported yet")
    builder = Builder.from_flags(context, continue_on_error=True, accepts=_check_version, local=True)
    show = printers.make(context, "reconciled")
    for info in builder.infos():
        if info.resource.group != "rbac.authorization.k8s.io":
            continue
        info.resource = built_in(info.resource.kind)
        info.namespace = (info.namespace or context.namespace) if info.resource.namespaced else ""
        try:
            value, report = _reconcile(context, info, dry_run)
            show(value)
            _tell(context, report, "subjects" if "Binding" in info.resource.kind else "rules")
        except CommandError as error:
            builder.errors.append(error)
    builder.finish()


def _check_version(value: Object) -> None:
    """Refuse a role or a binding of an older version."""
    group, _, version = value["apiVersion"].partition("/")
    if group == "rbac.authorization.k8s.io" and version != "v1":
        raise CommandError(f"only rbac.authorization.k8s.io/v1 is supported: not *{version}.{value['kind']}")


def _reconcile(context: Context, info: Info, dry_run: str) -> tuple[Object, Report]:
    """Return the object as it is afterwards, and what had to be done for that."""
    flags, client = context.flags, context.client
    wanted, key = info.object, "subjects" if "Binding" in info.resource.kind else "rules"
    rules = key == "rules"
    try:
        live = client.get(info.resource, info.namespace, info.name)
    except CommandError as error:
        if not not_found(error):
            raise
        made = wanted
        if dry_run != "client":
            if info.resource.namespaced:
                _ensure_namespace(context, info.namespace)
            made = client.create(info.resource, info.namespace, wanted)
        return made, Report("create", wanted.get(key) or [], [])
    if not rules and live.get("roleRef") != wanted.get("roleRef"):
        if dry_run != "client":
            client.delete(info.resource, info.namespace, info.name)
            wanted = client.create(info.resource, info.namespace, wanted)
        return wanted, Report("recreate", [], [])
    now, then = live.get(key) or [], wanted.get(key) or []
    if rules:
        missing, extra = not_covered(now, then), not_covered(then, now)
    else:
        missing, extra = (
            [item for item in left if item not in other] for left, other in ((then, now), (now, then))
        )
    remove = flags.remove_extra_permissions if rules else flags.remove_extra_subjects
    value = {**live, key: then if extra and remove else [*now, *missing]}
    if value == live:
        return live, Report("", [], [])
    if dry_run != "client":
        value = client.replace(info.resource, info.namespace, info.name, value)
    return value, Report("update", missing, extra if remove else [])


def _ensure_namespace(context: Context, name: str) -> None:
    """Create a namespace that does not exist, as far as we may."""
    resource = built_in("Namespace")
    try:
        context.client.get(resource, "", name)
    except ApiError as error:
        if not not_found(error):
            return
        try:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            context.client.create(resource, "", namespace)
        except ApiError as refusal:
            if refusal.reason not in ("AlreadyExists", "Forbidden"):
                raise


def _tell(context: Context, report: Report, what: str) -> None:
    if report.operation:
        context.warn(f"\treconciliation required {report.operation}")
    for title, values in ((f"missing {what} added", report.missing), (f"extra {what} removed", report.extra)):
        if values:
            context.warn(f"\t{title}:")
        for value in values:
            context.warn(f"\t\t{shown(value, what == 'rules')}")
