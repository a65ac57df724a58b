"""The plugins that the fields of a kustomization mean, in the order in which they run."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.field_specs import FieldSpec, merge_all, merge_one
from pybernetes.tools.kubectl.kustomize.plugins import make

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.configuration import Configuration
    from pybernetes.tools.kubectl.kustomize.target import Target


def generators(target: Target) -> list[tuple[str, Any]]:
    """Return the generators, each with its kind."""
    pairs = []
    options = target.kustomization.get("generatorOptions")
    for kind, field in (("ConfigMapGenerator", "configMapGenerator"), ("SecretGenerator", "secretGenerator")):
        for config in target.get(field):
            merged = {**config, "options": _merged(config.get("options"), options)} if options else config
            pairs.append((kind, _made(target, kind, merged)))
    for chart in target.get("helmCharts"):
        namespace = chart.get("namespace") or target.kustomization.get("namespace") or target.helm_namespace
        config = {**(target.kustomization.get("helmGlobals") or {}), **chart}
        if namespace:
            config["namespace"] = namespace
        pairs.append(("HelmChartInflationGenerator", _made(target, "HelmChartInflationGenerator", config)))
    return pairs


def _merged(own: dict[str, Any] | None, others: dict[str, Any]) -> dict[str, Any]:
    """Return the options of one generator with those of all: its own labels and annotations win."""
    own = own or {}
    merged: dict[str, Any] = {}
    for field in ("labels", "annotations"):
        if own.get(field) is not None or others.get(field) is not None:
            merged[field] = {**(others.get(field) or {}), **(own.get(field) or {})}
    for field in ("disableNameSuffixHash", "immutable"):
        if own.get(field) or others.get(field):
            merged[field] = True
    return merged


def _made(target: Target, kind: str, config: dict[str, Any]) -> Any:
    try:
        return make(kind, config, target.plugin)
    except BuildError as error:
        from pybernetes.tools.kubectl.kustomize.writer import as_yaml

        shown = {key: _shown(value) for key, value in config.items()}
        raise BuildError(
            f"trouble configuring builtin {kind} with config: `\n{as_yaml(shown)}`: {error.message}"
        ) from None


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return value.to_value() if isinstance(value, FieldSpec) else value


def transformers(target: Target, configuration: Configuration) -> list[tuple[str, Any]]:
    """Return the transformers, each with its kind."""
    return [(kind, _made(target, kind, config)) for kind, config in _configs(target, configuration)]


def _configs(target: Target, configuration: Configuration) -> Iterator[tuple[str, dict[str, Any]]]:
    own, specs = target.kustomization, configuration.specs
    if paths := target.get("patchesStrategicMerge"):
        yield "PatchStrategicMergeTransformer", {"paths": paths}
    for patch in target.get("patches"):
        yield "PatchTransformer", patch
    if own.get("namespace"):
        yield "NamespaceTransformer", {
            "metadata": {"namespace": own["namespace"]}, "fieldSpecs": specs["namespace"],
        }  # fmt: skip
    if own.get("namePrefix"):
        yield "PrefixTransformer", {"prefix": own["namePrefix"], "fieldSpecs": specs["namePrefix"]}
    if own.get("nameSuffix"):
        yield "SuffixTransformer", {"suffix": own["nameSuffix"], "fieldSpecs": specs["nameSuffix"]}
    yield from _labels(target, configuration)
    if own.get("commonAnnotations"):
        yield "AnnotationsTransformer", {
            "annotations": own["commonAnnotations"], "fieldSpecs": specs["commonAnnotations"],
        }  # fmt: skip
    for patch in target.get("patchesJson6902"):
        names = {"target": "target", "path": "path", "patch": "jsonOp"}
        yield "PatchJson6902Transformer", {new: patch[old] for old, new in names.items() if old in patch}
    for replica in target.get("replicas"):
        yield "ReplicaCountTransformer", {"replica": replica, "fieldSpecs": specs["replicas"]}
    for image in target.get("images"):
        yield "ImageTagTransformer", {"imageTag": image, "fieldSpecs": specs["images"]}
    if replacements := target.get("replacements"):
        yield "ReplacementTransformer", {"replacements": replacements}


def _labels(target: Target, configuration: Configuration) -> Iterator[tuple[str, dict[str, Any]]]:
    specs = configuration.specs
    for label in target.get("labels"):
        with wrapped("failed to merge labels"):
            fields = merge_all(
                [FieldSpec.from_value(field) for field in label.get("fields", ())], specs["labels"]
            )
            if label.get("includeSelectors"):
                fields = merge_all(fields, specs["commonLabels"])
        if not label.get("includeSelectors"):
            if label.get("includeTemplates"):
                with wrapped("failed to merge template fieldSpec"):
                    fields = merge_all(fields, specs["templateLabels"])
            with wrapped("failed to merge labels"):
                fields = merge_one(fields, FieldSpec("metadata/labels", create=True))
        yield "LabelTransformer", {"labels": label.get("pairs") or {}, "fieldSpecs": fields}
    if target.get("labels") or target.get("commonLabels"):
        # The original runs one more with nothing in it; that shows in what it says of objects.
        common = target.kustomization.get("commonLabels") or {}
        yield "LabelTransformer", {"labels": common, "fieldSpecs": specs["commonLabels"]}
