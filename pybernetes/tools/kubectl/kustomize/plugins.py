"""Built-in plugins by the kind that configurations name them with, and what they get to know of the build."""

from __future__ import annotations

import importlib

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.resource import Resource

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.loader import Loader
    from pybernetes.tools.kubectl.kustomize.options import Options

TRANSFORMERS = {
    "AnnotationsTransformer": "annotations",
    "HashTransformer": "hash",
    "ImageTagTransformer": "image_tag",
    "LabelTransformer": "label",
    "NamespaceTransformer": "namespace",
    "PatchJson6902Transformer": "patch_json6902",
    "PatchStrategicMergeTransformer": "patch_strategic_merge",
    "PatchTransformer": "patch",
    "PrefixSuffixTransformer": "prefix_suffix",
    "PrefixTransformer": "prefix",
    "SuffixTransformer": "suffix",
    "ReplacementTransformer": "replacement",
    "ReplicaCountTransformer": "replica_count",
    "ValueAddTransformer": "value_add",
}
GENERATORS = {
    "ConfigMapGenerator": "config_map",
    "IAMPolicyGenerator": "iam_policy",
    "SecretGenerator": "secret",
    "HelmChartInflationGenerator": "helm_chart_inflation",
}
_PACKAGE = __name__.rpartition(".")[0]


class Plugin:
    """What a plugin knows of the build: files of its folder, and options."""

    def __init__(self, loader: Loader, options: Options) -> None:
        self.loader, self.options = loader, options


def make(kind: str, config: dict[str, Any], plugin: Plugin) -> Any:
    """Return a transformer or generator with its configuration."""
    if kind in GENERATORS:
        module = importlib.import_module(f"{_PACKAGE}.generators.{GENERATORS[kind]}")
        return module.Generator(config, plugin)
    module = importlib.import_module(f"{_PACKAGE}.transformers.{TRANSFORMERS[kind]}")
    return module.Transformer(config, plugin)


def from_resource(resource: Resource, plugin: Plugin) -> Any:
    """Return the plugin that an object configures."""
    gvk = resource.gvk
    if gvk.group or gvk.version != "builtin":
        if not plugin.options.plugins:
            raise BuildError(
                f"external plugins disabled; unable to load external plugin '{resource.original_id.gvk.kind}'"
            )
        from pybernetes.tools.kubectl.kustomize.exec_plugin import ExecPlugin, refuse_function

        refuse_function(resource)
        return ExecPlugin(resource, plugin)
    if gvk.kind not in TRANSFORMERS and gvk.kind not in GENERATORS:
        raise BuildError(f"unable to load builtin {gvk}")
    with wrapped(f"plugin {resource.original_id} fails configuration"):
        config = typed.lenient(resource.value(), gvk.kind)
        return make(gvk.kind, config, plugin)
