"""The kustomization file: read, checked, old fields made new."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.errors import BuildError, TooLarge, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.loader import Loader

FILE_NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_FIX = "Run 'kustomize edit fix' to update your Kustomization automatically."
_DEPRECATED = (
    ("bases", "resources", ""), ("commonLabels", "labels", ""), ("imageTags", "images", ""),
    ("patchesJson6902", "patches", ""), ("patchesStrategicMerge", "patches", ""),
    ("vars", "replacements", "[EXPERIMENTAL] "),
)  # fmt: skip
_VERSIONS = {
    "Kustomization": "kustomize.config.k8s.io/v1beta1",
    "Component": "kustomize.config.k8s.io/v1alpha1",
}


def find(loader: Loader) -> tuple[bytes, str]:
    """Return the kustomization file of a folder, and its name."""
    files = []
    for name in FILE_NAMES:
        try:
            files.append((loader.load(name), name))
        except TooLarge:
            raise
        except BuildError:
            continue
    if not files:
        names = [f"'{name}'" for name in FILE_NAMES]
        raise BuildError(
            f"unable to find one of {', '.join(names[:-1])} or {names[-1]} in directory '{loader.root}'"
        )
    if len(files) > 1:
        raise BuildError(f"Found multiple kustomization files under: {loader.root}\n")
    return files[0]


def read(data: bytes, root: str, warn: Callable[[str], None]) -> dict[str, Any]:
    """Return a kustomization with nothing old in it."""
    with wrapped("invalid Kustomization"):
        kustomization = typed.strict(typed.load(data), "Kustomization")
    for field, instead, mark in _DEPRECATED:
        if field in kustomization:
            warn(f"# Warning: '{field}' is deprecated. Please use '{instead}' instead. {mark}{_FIX}")
    _fix(kustomization)
    if not kustomization.keys() - {"kind", "apiVersion"}:
        raise BuildError("kustomization.yaml is empty")
    problems = []
    kind = kustomization["kind"]
    if kind not in _VERSIONS:
        problems.append("kind should be Kustomization or Component")
    wanted = _VERSIONS.get(kind, _VERSIONS["Kustomization"])
    if kustomization["apiVersion"] != wanted:
        problems.append(f"apiVersion for {kind} should be {wanted}")
    if problems:
        raise BuildError("\n".join([f"Failed to read kustomization file under {root}:", *problems]))
    return kustomization


def _fix(kustomization: dict[str, Any]) -> None:
    kind = kustomization.get("kind") or "Kustomization"
    kustomization["kind"] = kind
    kustomization["apiVersion"] = kustomization.get("apiVersion") or _VERSIONS.get(
        kind, _VERSIONS["Kustomization"]
    )
    for old, new in (("bases", "resources"), ("imageTags", "images")):
        if items := kustomization.pop(old, None):
            kustomization[new] = [*kustomization.get(new, ()), *items]
    for field in ("configMapGenerator", "secretGenerator"):
        for generator in kustomization.get(field, ()):
            if env := generator.pop("env", ""):
                generator["envs"] = [*generator.get("envs", ()), env]
    charts = kustomization.pop("helmChartInflationGenerator", None) or []
    for old in charts:
        names = {"chartName": "name", "chartVersion": "version", "chartRepoUrl": "repo", "values": "valuesFile",
                 "valuesLocal": "valuesInline", "valuesMerge": "valuesMerge", "releaseName": "releaseName"}  # fmt: skip
        made = {name: old[field] for field, name in names.items() if field in old}
        kustomization.setdefault("helmCharts", []).append(made)
        for field, name in (("helmHome", "configHome"), ("chartHome", "chartHome")):
            if old.get(field):
                kustomization.setdefault("helmGlobals", {})[name] = old[field]
