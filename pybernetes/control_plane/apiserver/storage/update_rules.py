"""How an update of an object, or of one of its subresources, keeps, prepares and checks."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.api.field import Errors
from pybernetes.api.resource import Object, Resource, Rules
from pybernetes.api.validation import meta as meta_rules

_HEAD = frozenset({"metadata", "kind", "apiVersion"})
_NOT_CONTENT = _HEAD | {"status"}


class UpdateRules:
    """How an update of the object or of one of its subresources keeps, prepares and checks."""

    # The fields that this write cannot change, as a set of managed fields.
    reset: dict[str, Any]

    def __init__(self, resource: Resource) -> None:
        self.resource = resource
        self.reset = resource.reset.get("", {"f:status": {}} if resource.has_status else {})

    def prepare(self, new: Object, old: Object) -> None:
        """Keep what may not change and set what the server decides."""
        resource = self.resource
        if resource.has_status:
            if "status" in old:
                new["status"] = old["status"]
            else:
                new.pop("status", None)
        if resource.prepare_update is not None:
            resource.prepare_update(new, old)
        if resource.generation and self._content(new) != self._content(old):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def _content(self, obj: Object) -> dict[str, Any]:
        """Return all of an object that its generation counts: a status counts only if it is written with the rest."""
        left_out = _NOT_CONTENT if self.resource.has_status or self.resource.own_type is None else _HEAD
        return {key: value for key, value in obj.items() if key not in left_out}

    def check(self, new: Object, old: Object) -> None:
        """Validate the new object; 422 with every cause."""
        resource, problems = self.resource, Errors()
        meta_rules.validate(resource, new, problems)
        meta_rules.validate_update(resource, new, old, problems)
        self._validate(new, old, problems)
        if problems:
            raise errors.invalid(resource.group, resource.kind, new["metadata"].get("name", ""), problems)

    def _validate(self, new: Object, old: Object, problems: Errors) -> None:
        if self.resource.validate is not None:
            self.resource.validate(new, problems)
        if self.resource.validate_update is not None:
            self.resource.validate_update(new, old, problems)


class StatusRules(UpdateRules):
    """An update of the status subresource: everything else stays."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(resource)
        content = [name for name in resource.type.fields if name not in _NOT_CONTENT]
        self.reset = resource.reset.get("status", {f"f:{name}": {} for name in content})

    def prepare(self, new: Object, old: Object) -> None:
        status = new.get("status")
        managed_fields = new["metadata"].get("managedFields")
        requested = old["metadata"] if "f:metadata" in self.reset else dict(new["metadata"])
        for key in list(new):
            if key not in old:
                del new[key]
        new.update(old)
        new["metadata"] = dict(old["metadata"])
        for key in ("labels", "annotations", "finalizers", "ownerReferences"):
            if key in requested:
                new["metadata"][key] = requested[key]
            else:
                new["metadata"].pop(key, None)
        if managed_fields is not None:
            new["metadata"]["managedFields"] = managed_fields
        if status is None:
            new.pop("status", None)
        else:
            new["status"] = status
        if self.resource.prepare_status_update is not None:
            self.resource.prepare_status_update(new, old)

    def _validate(self, new: Object, old: Object, problems: Errors) -> None:
        if self.resource.validate_status_update is not None:
            self.resource.validate_status_update(new, old, problems)


class OwnRules(UpdateRules):
    """An update of a subresource for which the kind has rules of its own."""

    def __init__(self, resource: Resource, rules: Rules, subresource: str) -> None:
        super().__init__(resource)
        self.rules = rules
        self.reset = resource.reset.get(subresource, {})

    def prepare(self, new: Object, old: Object) -> None:
        self.rules.prepare(new, old)

    def _validate(self, new: Object, old: Object, problems: Errors) -> None:
        if self.rules.validate is not None:
            self.rules.validate(new, old, problems)
