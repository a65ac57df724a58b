"""The objects of a build, in order; no two have one id."""

from __future__ import annotations

from collections import Counter

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, TooLarge
from pybernetes.tools.kubectl.kustomize.resid import ResId
from pybernetes.tools.kubectl.kustomize.resource import ORIGIN, Resource
from pybernetes.tools.kubectl.kustomize.yaml_nodes.node import MAPPING
from pybernetes.tools.kubectl.kustomize.yaml_nodes.paths import lookup, set_field
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import to_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_RESOURCES = 50_000


class ResourceList:
    """Objects in order."""

    def __init__(self, resources: Iterable[Resource] = ()) -> None:
        self.items: list[Resource] = []
        self.append_all(resources)

    def append_all(self, resources: Iterable[Resource]) -> None:
        """Add objects; refuse one whose id is there."""
        known = {item.id.identity() for item in self.items}
        for resource in resources:
            identity = resource.id.identity()
            if identity in known:
                raise BuildError(f"may not add resource with an already registered id: {resource.id}")
            known.add(identity)
            self.items.append(resource)
        if len(self.items) > MAX_RESOURCES:
            raise TooLarge(f"a kustomization may have {MAX_RESOURCES} resources at most")

    def matching(self, matches: Callable[[ResId], bool]) -> list[Resource]:
        """Return the objects one of whose ids, present or past, matches."""
        return [item for item in self.items if not item.is_gone and any(map(matches, item.ids))]

    def by_id(self, wanted: ResId) -> Resource:
        """Return the object that a patch is for."""
        matches = self.matching(wanted.same)
        if len(matches) != 1:
            count = "multiple" if matches else "no"
            raise BuildError(
                f"{count} matches for Id {wanted}; failed to find unique target for patch {wanted}"
            )
        return matches[0]

    def drop_gone(self) -> None:
        """Remove the objects of which nothing is left."""
        self.items = [item for item in self.items if not item.is_gone]

    def absorb(self, resources: Iterable[Resource]) -> None:
        """Add what a generator made, or put it in the place of what is there, as its behavior says."""
        for resource in resources:
            self._absorb(resource)

    def _absorb(self, resource: Resource) -> None:
        wanted = resource.id
        matches = self.matching(wanted.same)
        behavior = resource.behavior
        if len(matches) > 1:
            texts = " ".join(_json(item) for item in matches)
            raise BuildError(f"found multiple objects [{texts}] that could accept merge of {wanted}")
        if not matches:
            if behavior in ("merge", "replace"):
                raise BuildError(f"id {_literal(wanted)} does not exist; cannot merge or replace")
            self.append_all([resource])
            return
        old = matches[0]
        if behavior not in ("merge", "replace"):
            raise BuildError(
                f"id {_literal(wanted)} exists; can not use behavior: '{behavior}', behavior must be merge or replace"
            )
        origin = old.annotation(ORIGIN)
        resource.inherit(old)
        if behavior == "merge":
            for field in ("data", "binaryData"):
                _merge_data(resource, old, field)
            if origin is not None:
                resource.set_map("annotations", {**resource.annotations, ORIGIN: origin})
        self._replace(resource, self.items.index(old))

    def _replace(self, resource: Resource, index: int) -> None:
        identity = resource.id.identity()
        places = [place for place, item in enumerate(self.items) if item.id.identity() == identity]
        if len(places) > 1:
            raise BuildError(f"in Replace: id matched {len(places)} resources")
        if not places:
            raise BuildError(f"cannot find resource with id {resource.id} to replace")
        if places[0] != index:
            raise BuildError("unexpected target index in replacement")
        self.items[index] = resource

    def patch(self, selected: Iterable[Resource], patch: Resource) -> None:
        """Merge a patch into objects, and remove those that it deletes."""
        wanted = {item.id.exact() for item in selected}
        for item in self.items:
            if item.id.exact() in wanted:
                copied = patch.copy()
                copied.inherit(patch)
                kind = patch.kind
                copied.set_gvk(item.gvk)
                assert copied.node is not None
                copied.node.content["kind"].value = kind
                item.patch(copied)
        kept = [item for item in self.items if not item.is_gone]
        self.items = []
        self.append_all(kept)

    def counts(self) -> Counter[tuple[str, ...]]:
        """Return how many objects there are of each id."""
        return Counter(item.id.identity() for item in self.items)

    def referable_by(self, referrer: Resource) -> list[Resource]:
        """Return the objects that another one could refer to: those of its namespace, and those without one."""
        own = referrer.id
        if own.cluster_scoped:
            return self.items
        namespaces = _subject_namespaces(referrer)
        here = own.effective_namespace
        return [
            item
            for item in self.items
            if (item_id := item.id).cluster_scoped
            or item_id.effective_namespace == here
            or (namespaces and item.namespace in namespaces)
        ]


def _subject_namespaces(referrer: Resource) -> set[str]:
    """Return the namespaces of the service accounts of a role binding."""
    subjects = referrer.node.field("subjects") if referrer.kind == "RoleBinding" and referrer.node else None
    values = to_value(subjects) if subjects is not None else None
    namespaces = set()
    for subject in values if isinstance(values, list) else ():
        if isinstance(subject, dict) and subject.get("kind") == "ServiceAccount" and "namespace" in subject:
            if not isinstance(subject["namespace"], str):
                raise BuildError(f'Invalid Input: namespace is blank for resource "{referrer.id}"\n')
            namespaces.add(subject["namespace"])
    return namespaces


def _merge_data(resource: Resource, old: Resource, field: str) -> None:
    from pybernetes.tools.kubectl.kustomize.generators.data import config_map_value

    node = resource.node
    assert node is not None
    values: dict[str, str] = {}
    for source in (old.node, node):
        data = source.field(field) if source is not None else None
        if data is not None and data.kind == MAPPING:
            values.update(
                (key, "" if value.tag == "!!null" else value.value) for key, value in data.content.items()
            )
    node.content.pop(field, None)
    for key in sorted(values):
        place, value = config_map_value(values[key].encode("utf-8", "surrogateescape"))
        target = lookup(node, [place if field == "data" else field], create=MAPPING)
        assert target is not None
        set_field(target, key, value)


def _literal(wanted: ResId) -> str:
    """Return an id as Go writes its struct down."""
    gvk = wanted.gvk
    scoped = "true" if wanted.cluster_scoped else "false"
    return (
        f'resid.ResId{{Gvk:resid.Gvk{{Group:"{gvk.group}", Version:"{gvk.version}", Kind:"{gvk.kind}", '
        f'isClusterScoped:{scoped}}}, Name:"{wanted.name}", Namespace:"{wanted.namespace}"}}'
    )


def _json(resource: Resource) -> str:
    import orjson

    return orjson.dumps(resource.value(), option=orjson.OPT_SORT_KEYS).decode()
