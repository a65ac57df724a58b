"""apply --applyset: an object of the cluster keeps which kinds and namespaces a set of applied objects is in."""

from __future__ import annotations

import base64
import hashlib

from pybernetes import KUBERNETES_VERSION
from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, NoMatch, not_found, quoted, raise_all
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pybernetes.api.resource import Object

TOOLING = "applyset.kubernetes.io/tooling"
NAMESPACES = "applyset.kubernetes.io/additional-namespaces"
KINDS = "applyset.kubernetes.io/contains-group-kinds"
OLD_KINDS = "applyset.kubernetes.io/contains-group-resources"
ID = "applyset.kubernetes.io/id"
PART_OF = "applyset.kubernetes.io/part-of"
PARENT_TYPE = "applyset.kubernetes.io/is-parent-type"
_TOOL = "kubectl"
_MANAGER = f"{_TOOL}-applyset"
_BUILT_IN = (("", "v1", "secrets"), ("", "v1", "configmaps"))


class ApplySet:
    """A set of objects and its parent, the object that says what belongs to it."""

    def __init__(self, context: Context, reference: str) -> None:
        self._context = context
        self._parent, self._name = _parsed(context, reference)
        # Only a namespace of the command line counts: that of the kubeconfig may be another tomorrow.
        given = context.namespace_given and self._parent.namespaced
        self._namespace = context.namespace if given else ""
        self._shown = quoted(f"{self._parent.plural}.{self._parent.group}/{self._name}")
        self.id = identity(self._name, self._namespace, self._parent.kind, self._parent.group)
        self._old_kinds: dict[tuple[str, str], Resource] = {}
        self._new_kinds: set[tuple[str, str]] = set()
        self._old_namespaces: set[str] = set()
        self._new_namespaces: set[str] = set()

    def check(self) -> None:
        """Complain about a parent that cannot be one."""
        problems = []
        if self._parent.namespaced and not self._namespace:
            problems.append("namespace is required to use namespace-scoped ApplySet")
        if not self._is_built_in():
            try:
                allowed = self._custom_parents()
            except CommandError as error:
                problems.append(f"identifying allowed custom resource parent types: {error.message}")
                allowed = set()
            if self._parent.full_name not in allowed:
                version = f"{self._parent.group}/{self._parent.version}, Resource={self._parent.plural}"
                problems.append(f"resource {quoted(version)} is not permitted as an ApplySet parent")
        if problems:
            raise_all([CommandError(problem) for problem in problems])

    def before(self, infos: list[Info]) -> None:
        """Label the objects, and have the parent cover what is there and what comes, so that nothing is lost midway."""
        for info in infos:
            metadata = info.object.setdefault("metadata", {})
            labels = dict(metadata.get("labels") or {})
            if PART_OF in labels:
                raise CommandError(f"ApplySet label {quoted(PART_OF)} already set in input data")
            metadata["labels"] = {**labels, PART_OF: self.id}
        self._read_parent()
        for info in infos:
            self._new_kinds.add((info.resource.group, info.resource.kind))
            if info.resource.namespaced and info.namespace:
                self._new_namespaces.add(info.namespace)
        self._update(set(self._old_kinds) | self._new_kinds, self._old_namespaces | self._new_namespaces)

    def prune(self, applied: list[Info]) -> None:
        """Delete what belongs to the set and was not applied just now; then the parent covers what is left."""
        from pybernetes.tools.kubectl.apply.prune import delete

        uids = {(info.object.get("metadata") or {}).get("uid") for info in applied}
        for info in list(self._members(uids)):
            try:
                delete(self._context, info)
            except CommandError as error:
                where = f"{info.namespace}/{info.name}" if info.namespace else info.name
                kind = _kind_name(info.resource.group, info.resource.kind)
                raise CommandError(f"pruning {kind} {where}: {error.message}") from None
        try:
            self._update(self._new_kinds, self._new_namespaces)
        except CommandError as error:
            text = f"apply and prune succeeded, but ApplySet update failed: {error.message}"
            raise CommandError(text) from None

    def _members(self, applied: set[str | None]) -> Iterator[Info]:
        """Yield the objects of the set that were not applied."""
        for resource in self._old_kinds.values():
            for namespace in sorted(self._old_namespaces) if resource.namespaced else [""]:
                try:
                    listed = self._context.client.list(
                        resource, namespace, chunk=0, labels=f"{PART_OF}={self.id}"
                    )
                except CommandError as error:
                    version = f"{resource.group}/{resource.version}, Kind={resource.kind}"
                    raise CommandError(f"listing {version} objects for pruning: {error.message}") from None
                for item in listed.get("items") or []:
                    if item["metadata"].get("uid") not in applied:
                        item.setdefault("kind", resource.kind)
                        item.setdefault("apiVersion", resource.api_version)
                        yield Info(resource, namespace, item["metadata"]["name"], item)

    def _is_built_in(self) -> bool:
        return (self._parent.group, self._parent.version, self._parent.plural) in _BUILT_IN

    def _custom_parents(self) -> set[str]:
        """Return the kinds of custom resources whose definitions say that they may be parents."""
        definitions = self._context.discovery.of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        listed = self._context.client.list(definitions, chunk=0, labels=PARENT_TYPE)
        return {item["metadata"]["name"] for item in listed.get("items") or []}

    def _read_parent(self) -> None:
        """Find out what the set has now; complain about a parent that is another tool's or another set's."""
        try:
            parent = self._context.client.get(self._parent, self._namespace, self._name)
        except ApiError as error:
            if not not_found(error):
                text = f"failed to fetch ApplySet parent object {self._shown}: {error.message}"
                raise CommandError(text) from None
            if not self._is_built_in():
                raise CommandError(
                    "custom resource ApplySet parents cannot be created automatically"
                ) from None
            return
        metadata = parent.get("metadata") or {}
        annotations = metadata.get("annotations") or {}
        _check_owner(self._shown, annotations, metadata.get("labels") or {}, self.id)
        try:
            self._old_kinds = self._contained(annotations)
        except CommandError as error:
            raise CommandError(f"parsing ApplySet annotation on {self._shown}: {error.message}") from None
        self._old_namespaces = {name for name in annotations.get(NAMESPACES, "").split(",") if name}
        if self._parent.namespaced:
            self._old_namespaces.add(self._namespace)

    def _contained(self, annotations: Object) -> dict[tuple[str, str], Resource]:
        """Return the kinds that the annotations of a parent name."""
        if KINDS in annotations:
            names = annotations[KINDS].split(",") if annotations[KINDS] else []
            resources = [self._of_kind(name) for name in names]
        elif names := annotations.get(OLD_KINDS):
            resources = [self._of_resource(name) for name in names.split(",")]
        else:
            text = f"kubectl requires the {quoted(KINDS)} annotation to be set on all ApplySet parent objects"
            raise CommandError(text)
        return {(resource.group, resource.kind): resource for resource in resources}

    def _of_kind(self, name: str) -> Resource:
        kind, _, group = name.partition(".")
        for resources in (self._context.discovery.resources, self._context.discovery.refresh):
            same = [entry for entry in resources() if entry.kind == kind and entry.group == group]
            if same:
                return next((entry for entry in same if entry.preferred), same[0])
        why = f"no matches for kind {quoted(kind)} in group {quoted(group)}"
        raise CommandError(f"could not find mapping for kind in {quoted(KINDS)} annotation: {why}")

    def _of_resource(self, name: str) -> Resource:
        try:
            return self._context.discovery.find(name)
        except NoMatch:
            plural, _, group = name.partition(".")
            why = f"no matches for {group}/, Resource={plural}"
            raise CommandError(f"invalid group resource in {quoted(OLD_KINDS)} annotation: {why}") from None

    def _update(self, kinds: Iterable[tuple[str, str]], namespaces: set[str]) -> None:
        """Write to the parent which kinds and namespaces the set is in."""
        if self._context.dry_run() == "client":
            return
        annotations = {
            TOOLING: f"{_TOOL}/{KUBERNETES_VERSION}",
            KINDS: ",".join(sorted(_kind_name(group, kind) for group, kind in kinds)),
            NAMESPACES: ",".join(sorted(namespaces - {self._namespace})),
        }
        metadata: Object = {"name": self._name, "labels": {ID: self.id}, "annotations": annotations}
        if self._namespace:
            metadata["namespace"] = self._namespace
        value = {"kind": self._parent.kind, "apiVersion": self._parent.api_version, "metadata": metadata}
        try:
            try:
                self._send(value, "false")
            except ApiError as error:
                if error.reason != "Conflict":
                    raise
                log.line(
                    "applyset.go:447",
                    f"WARNING: failed to update ApplySet: {error.message}\nApplySet field manager {_MANAGER} should own "
                    "these fields. Retrying with conflicts forced.",
                    0,
                    "W",
                )
                self._send(value, "true")
        except ApiError as error:
            raise CommandError(f"failed to update ApplySet: {error.message}") from None

    def _send(self, value: Object, force: str) -> None:
        query = {**self._context.write_query(), "fieldManager": _MANAGER, "force": force}
        self._context.client.patch(self._parent, self._namespace, self._name, value, "apply", query=query)


def identity(name: str, namespace: str, kind: str, group: str) -> str:
    """Return the label value that marks the members of a set: a hash of what its parent is."""
    digest = hashlib.sha256(f"{name}.{namespace}.{kind}.{group}".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).decode().rstrip('=')}-v1"


def _kind_name(group: str, kind: str) -> str:
    return f"{kind}.{group}" if group else kind


def _parsed(context: Context, reference: str) -> tuple[Resource, str]:
    """Return the resource and the name of [RESOURCE][.GROUP]/NAME; a name alone is that of a Secret."""
    word, slash, name = reference.partition("/")
    if not slash:
        word, name = "secrets", reference
    try:
        if not name:
            raise CommandError("name cannot be blank")
        if not word:
            raise CommandError("a resource must be present, got: /, Resource=")
        return context.discovery.find(word), name
    except NoMatch:
        plural, _, group = word.partition(".")
        why = f"no matches for {group}/, Resource={plural}"
        raise CommandError(f"invalid parent reference {quoted(reference)}: {why}") from None
    except CommandError as error:
        raise CommandError(f"invalid parent reference {quoted(reference)}: {error.message}") from None


def _check_owner(shown: str, annotations: Object, labels: Object, wanted: str) -> None:
    """Refuse a parent that this tool did not make, or that is another's."""
    start = f"ApplySet parent object {shown}"
    tooling = annotations.get(TOOLING)
    if tooling is None:
        raise CommandError(f"{start} already exists and is missing required annotation {quoted(TOOLING)}")
    owner = tooling.rpartition("/")[0] if "/" in tooling else tooling
    if owner != _TOOL:
        raise CommandError(
            f"{start} already exists and is managed by tooling {quoted(owner)} instead of {quoted(_TOOL)}"
        )
    if ID not in labels:
        raise CommandError(f"{start} exists and does not have required label {ID}")
    if labels[ID] != wanted:
        raise CommandError(
            f"{start} exists and has incorrect value for label {quoted(ID)} (got: {labels[ID]}, want: {wanted})"
        )
