"""The rules and defaults of a definition, which are checked after all else of it was found right."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.write_check import WriteCheck


def check(definition: Object, problems: Errors) -> None:
    """Complain about rules that do not compile or cost too much, and about defaults that are wrong."""
    from pybernetes.api.customresource import (  # only now: most servers start without
        default_checks,
        rule_costs,
    )

    path = Path("spec")
    schemas = [version.get("schema") or {} for version in definition["spec"].get("versions", ())]
    places = [(path / "versions")[index] / "schema" for index in range(len(schemas))]
    if all(schema == schemas[0] for schema in schemas):  # what all have in common is complained about once
        schemas, places = schemas[:1], [path / "validation"]
    for version, place in zip(schemas, places, strict=False):
        schema, where = version.get("openAPIV3Schema") or {}, place / "openAPIV3Schema"
        before = len(problems)
        rule_costs.check_definition(schema, where, problems)
        if len(problems) == before:
            default_checks.check_defaults(schema, where, problems, root=True)


async def _refuse(request: Request, new: Object, old: Object | None) -> None:
    if new["metadata"].get("deletionTimestamp") or (old is not None and old["spec"] == new["spec"]):
        return
    problems = Errors()
    check(new, problems)
    if problems:
        name = new["metadata"].get("name", "")
        raise errors.invalid("apiextensions.k8s.io", "CustomResourceDefinition", name, problems)


WRITE_CHECK = WriteCheck(after=_refuse)
