"""Deletes what was applied before and is no longer in the files."""

from __future__ import annotations

from collections.abc import Iterator

from pybernetes.tools.kubectl import log
from pybernetes.tools.kubectl.apply.last_applied import read
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, not_found
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.info import Info

_NAMESPACED = (
    ("", "v1", "ConfigMap"), ("", "v1", "Endpoints"), ("", "v1", "PersistentVolumeClaim"), ("", "v1", "Pod"),
    ("", "v1", "ReplicationController"), ("", "v1", "Secret"), ("", "v1", "Service"), ("batch", "v1", "Job"),
    ("batch", "v1", "CronJob"), ("networking.k8s.io", "v1", "Ingress"), ("apps", "v1", "DaemonSet"),
    ("apps", "v1", "Deployment"), ("apps", "v1", "ReplicaSet"), ("apps", "v1", "StatefulSet"),
)  # fmt: skip
_GLOBAL = (("", "v1", "Namespace"), ("", "v1", "PersistentVolume"))


_LATER = (
    "Deprecated: kubectl apply will no longer prune non-namespaced resources by default when used with the --namespace "
    "flag in a future release. To preserve the current behaviour, list the resources you want to target explicitly in "
    "the --prune-allowlist flag."
)


def prune(context: Context, applied: list[Info], kinds: list[Resource]) -> None:
    """Delete objects of the kinds that may be pruned that have the annotation and were not applied just now."""
    for info in prunable(context, applied, kinds):
        delete(context, info)


def prunable(context: Context, applied: list[Info], kinds: list[Resource]) -> Iterator[Info]:
    """Yield the objects of some kinds that have the annotation and were not applied just now."""
    flags = context.flags
    uids = {(info.object.get("metadata") or {}).get("uid") for info in applied}
    namespaces = {info.namespace for info in applied if info.resource.namespaced}
    if context.namespace_given:
        namespaces.add(context.namespace)
    labels = flags.selector or None
    for resource in kinds:
        for namespace in sorted(namespaces) if resource.namespaced else [""]:
            try:
                items = context.client.list(resource, namespace, chunk=0, labels=labels).get("items") or []
            except CommandError as error:
                if not_found(error):
                    continue
                raise
            for item in items:
                if read(item) is None or item["metadata"].get("uid") in uids:
                    continue
                item.setdefault("kind", resource.kind)
                item.setdefault("apiVersion", resource.api_version)
                yield Info(resource, namespace, item["metadata"]["name"], item)


def delete(context: Context, info: Info) -> None:
    """Delete an object that is no longer wanted, and say so."""
    from pybernetes.tools.kubectl.output import printers
    from pybernetes.tools.kubectl.resources.deletion import delete_object, propagation_policy

    if context.dry_run() != "client":
        delete_object(context, info, context.flags.grace_period, propagation_policy(context.flags.cascade))
    printers.make(context, "pruned")(info.object)


def named(context: Context) -> list[tuple[str, str, str]]:
    """Return the kinds that the flags allow to prune, as group, version and kind; a server without them is an error."""
    chosen: list[tuple[str, str, str]] = []
    for text in context.flags.prune_allowlist:
        parts = text.split("/")
        if len(parts) != 3:
            raise CommandError(f"invalid GroupVersionKind format: {text}, please follow <group/version/kind>")
        group, version, kind = parts
        chosen.append(("" if group == "core" else group, version, kind))
    for group, version, kind in chosen:
        try:
            _resource(context, group, version, kind)
        except CommandError as error:
            raise CommandError(error.message.partition("\n")[0]) from None
    return chosen


def allowed(context: Context, chosen: list[tuple[str, str, str]]) -> list[Resource]:
    """Return the resources that may be pruned: those that were chosen, or the usual ones that the server has."""
    if not chosen:
        log.line("prune.go:71", _LATER, 0, "W")
    resources = []
    for group, version, kind in chosen or (*_NAMESPACED, *_GLOBAL):
        try:
            resources.append(_resource(context, group, version, kind))
        except CommandError as error:
            if not error.message.startswith("no matches"):
                raise
    return resources


def _resource(context: Context, group: str, version: str, kind: str) -> Resource:
    return context.discovery.of_kind(f"{group}/{version}" if group else version, kind)
