"""Builds a kustomization."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import VERSION
from pybernetes.tools.kubectl.kustomize.accumulator import Accumulator
from pybernetes.tools.kubectl.kustomize.loader import open_target
from pybernetes.tools.kubectl.kustomize.options import Options
from pybernetes.tools.kubectl.kustomize.origin import Origin
from pybernetes.tools.kubectl.kustomize.resource import BUILD_ANNOTATIONS, ORIGIN, TRANSFORMATIONS
from pybernetes.tools.kubectl.kustomize.target import Target
from pybernetes.tools.kubectl.kustomize.transformers import hash as hashes
from pybernetes.tools.kubectl.kustomize.transformers.sort_order import sort
from pybernetes.tools.kubectl.log import header

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pybernetes.tools.kubectl.context import Context
    from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList

_LOCAL = "config.kubernetes.io/local-config"
_MANAGED_BY = "app.kubernetes.io/managed-by"
_SORTED_TWICE = (
    "Warning: Sorting order is set both in 'kustomization.yaml' ('sortOptions') and in a CLI flag ('--reorder'). "
    "Using the kustomization file over the CLI flag."
)


def build(path: str, options: Options, warn: Callable[[str], None]) -> ResourceList:
    """Return the objects of a kustomization."""
    loader = open_target(path, options.restriction)
    try:
        target = Target(loader, options, warn)
        target.use_schema(first=True)
        resources = _made(target)
    finally:
        loader.clean()
    wanted = target.get("buildMetadata")
    if order := target.kustomization.get("sortOptions"):
        if options.reorder != "unspecified":
            warn(_logged(_SORTED_TWICE))
        sort(resources, order)
    elif options.reorder in ("legacy", "unspecified"):
        sort(resources, {"order": "legacy"})
    if options.managed_by or "managedByLabel" in wanted:
        from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec
        from pybernetes.tools.kubectl.kustomize.transformers._entries import add_entries

        add_entries(
            resources, {_MANAGED_BY: f"kustomize-{VERSION}"}, [FieldSpec("metadata/labels", create=True)]
        )
    forgotten = set(BUILD_ANNOTATIONS)
    if "originAnnotations" not in wanted:
        forgotten.add(ORIGIN)
    if "transformerAnnotations" not in wanted:
        forgotten.add(TRANSFORMATIONS)
    for resource in resources.items:
        kept = {name: value for name, value in resource.annotations.items() if name not in forgotten}
        resource.set_map("annotations", kept)
    return resources


def objects(path: str, context: Context) -> list[Any]:
    """Return the objects of the kustomization that ``-k`` names."""
    options = Options(reorder="legacy", environment=context.environment)
    return [resource.value() for resource in build(path, options, context.warn).items]


def _logged(text: str) -> str:
    return f"{header('log.go:244')}{text}"


def _made(target: Target) -> ResourceList:
    if target.get("buildMetadata"):
        target.origin = Origin()
    accumulator = target.accumulate(Accumulator())
    resources = accumulator.resources
    hashes.Transformer({}, target.plugin).transform(resources)
    accumulator.fix_references()
    if unused := accumulator.resolve_variables():
        target.warn(_logged(f"well-defined vars that were never replaced: {','.join(unused)}"))
    resources.items = [
        item
        for item in resources.items
        if item.annotation(_LOCAL) is None or item.annotation(_LOCAL) == "false"
    ]
    return resources
