"""auth reconcile: makes roles and bindings hold at least what files say."""

from __future__ import annotations

from contextlib import contextmanager

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.auth._reconciliation import Plan, plan
from pybernetes.tools.kubectl.commands.auth._rules import shown
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, not_found
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import built_in
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pybernetes.api.resource import Object


SUMMARY = "Reconciles rules for RBAC role, role binding, cluster role, and cluster role binding objects"
USAGE = "auth reconcile -f FILENAME"
FLAGS = (shared_flags.FILES, shared_flags.PRINT, shared_flags.DRY_RUN, """
- remove-extra-permissions bool false | take away permissions that the files do not name
- remove-extra-subjects bool false | take away subjects that the files do not name
""")  # fmt: skip


_CONFLICTS, _ATTEMPTS = 3, 3


class _ChangedMeanwhile(Exception):
    """Somebody else made the object, or deleted it, since it was read."""


def run(context: Context) -> None:
    """Reconcile each object of the files. One that names no namespace is in none, whatever the command line says."""
    flags = context.flags
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
        rules = "Binding" not in info.resource.kind
        remove = flags.remove_extra_permissions if rules else flags.remove_extra_subjects
        try:
            done = _reconcile(context, info, remove, dry_run)
            show(done.object)
            _tell(context, done, rules, remove)
        except CommandError as error:
            builder.errors.append(error)
    builder.finish()


def _check_version(value: Object) -> None:
    """Refuse a role or a binding of an older version."""
    group, _, version = value["apiVersion"].partition("/")
    if group == "rbac.authorization.k8s.io" and version != "v1":
        raise CommandError(f"only rbac.authorization.k8s.io/v1 is supported: not *{version}.{value['kind']}")


def _reconcile(context: Context, info: Info, remove: bool, dry_run: str) -> Plan:
    """Return what was done, with the object as it is afterwards; begin again when somebody else changes it."""
    conflicts = attempts = 0
    while True:
        try:
            return _attempt(context, info, remove, dry_run)
        except _ChangedMeanwhile:
            attempts += 1
            if attempts == _ATTEMPTS:
                raise CommandError("exceeded maximum attempts") from None
        except ApiError as error:
            conflicts += 1
            if error.reason != "Conflict" or conflicts == _CONFLICTS:
                raise


def _attempt(context: Context, info: Info, remove: bool, dry_run: str) -> Plan:
    client, where = context.client, (info.resource, info.namespace)
    live: Object | None = None
    try:
        live = client.get(*where, info.name)
    except ApiError as error:
        if not not_found(error):
            raise
    chosen = plan(live, info.object, remove)
    if chosen.protected or dry_run == "client" or not chosen.operation:
        return chosen
    if chosen.operation == "update":
        with _noticing("NotFound"):
            return chosen._replace(object=client.replace(*where, info.name, chosen.object))
    if chosen.operation == "recreate" and live is not None:
        options = {"preconditions": {"uid": (live.get("metadata") or {}).get("uid")}}
        try:
            with _noticing("Conflict"):
                client.delete(*where, info.name, options)
        except ApiError as error:
            if not not_found(error):
                raise
    if info.resource.namespaced:
        _ensure_namespace(context, info.namespace)
    with _noticing("AlreadyExists"):
        return chosen._replace(object=client.create(*where, chosen.object))


@contextmanager
def _noticing(reason: str) -> Iterator[None]:
    """Turn an error with a reason into one that says that the object is no longer what it was."""
    try:
        yield
    except ApiError as error:
        if error.reason == reason:
            raise _ChangedMeanwhile from None
        raise


def _ensure_namespace(context: Context, name: str) -> None:
    """Create a namespace that does not exist, as far as we may."""
    if not name:
        raise CommandError("resource name may not be empty")
    resource = built_in("Namespace")
    try:
        context.client.get(resource, "", name)
    except ApiError as error:
        if error.reason not in ("NotFound", "Forbidden"):
            raise
        try:
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            context.client.create(resource, "", namespace)
        except ApiError as refusal:
            if refusal.reason not in ("AlreadyExists", "Forbidden"):
                raise


def _tell(context: Context, done: Plan, rules: bool, remove: bool) -> None:
    what = "rules" if rules else "subjects"
    if not done.operation:
        return
    caveat = (
        ", but object opted out (rbac.authorization.kubernetes.io/autoupdate: false)"
        if done.protected
        else ""
    )
    context.warn(f"\treconciliation required {done.operation}{caveat}")
    extra = done.extra if remove else []
    for title, values in ((f"missing {what} added", done.missing), (f"extra {what} removed", extra)):
        if values:
            context.warn(f"\t{title}:")
        for value in values:
            context.warn(f"\t\t{shown(value, rules)}")
