"""Selectors of objects: regular expressions on their ids, selectors of labels and annotations."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.resid import Gvk, ResId

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.resource import Resource

_FIELDS = ("group", "version", "kind", "name", "namespace")


class Selector:
    """What a patch or a replacement is for."""

    def __init__(self, value: dict[str, Any]) -> None:
        from pybernetes.api.text.regular_expressions import PatternError, compile_pattern

        self.patterns: dict[str, Any] = {}
        self.labels: str = value.get("labelSelector", "")
        self.annotations: str = value.get("annotationSelector", "")
        self.id = ResId(
            Gvk.from_value(value), value.get("name", ""), value.get("namespace", ""), scope_known=False
        )
        for field in _FIELDS:
            if value.get(field):
                try:
                    self.patterns[field] = compile_pattern(f"^(?:{value[field]})$")
                except PatternError as error:
                    raise BuildError(str(error)) from None

    def matches(self, field: str, value: str) -> bool:
        """Return whether the pattern of a field matches; without one all do."""
        pattern = self.patterns.get(field)
        return pattern is None or pattern.search(value) is not None

    def matches_gvk(self, gvk: Gvk) -> bool:
        """Return whether a kind is selected."""
        return (
            self.matches("group", gvk.group)
            and self.matches("version", gvk.version)
            and self.matches("kind", gvk.kind)
        )

    def matches_id(self, resource_id: ResId) -> bool:
        """Return whether an id is selected."""
        return (
            self.matches_gvk(resource_id.gvk)
            and self.matches("name", resource_id.name)
            and self.matches("namespace", resource_id.namespace)
        )

    def matches_metadata(self, resource: Resource) -> bool:
        """Return whether labels and annotations are selected."""
        return _selected(self.labels, resource.labels) and _selected(self.annotations, resource.annotations)

    def select(self, resources: Iterable[Resource]) -> list[Resource]:
        """Return the objects that are selected by what they are or were."""
        selected = []
        for resource in resources:
            now, first = resource.id, resource.original_id
            if (
                any(
                    self.matches("namespace", resource_id.effective_namespace) for resource_id in (first, now)
                )
                and any(self.matches("name", resource_id.name) for resource_id in (first, now))
                and self.matches_gvk(now.gvk)
                and self.matches_metadata(resource)
            ):
                selected.append(resource)
        return selected

    def __str__(self) -> str:
        return f"{self.id}:a={self.annotations}:l={self.labels}"


def _selected(selector: str, values: dict[str, str]) -> bool:
    if not selector:
        return True
    from pybernetes.api.selectors import SelectorError, parse_labels

    try:
        return parse_labels(selector).matches(values)
    except SelectorError as error:
        raise BuildError(str(error)) from None
