"""HelmChartInflationGenerator: has helm make the objects of a chart, if that is allowed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.errors import BuildError, wrapped
from pybernetes.tools.kubectl.kustomize.factory import from_bytes
from pybernetes.tools.kubectl.kustomize.resource import HELM
from pybernetes.tools.kubectl.kustomize.yaml_nodes.merging import merge
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import from_value, to_value

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin
    from pybernetes.tools.kubectl.kustomize.resource import Resource

_MERGES = ("merge", "override", "replace")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")
_FLAGS = (("includeCRDs", "--include-crds"), ("skipTests", "--skip-tests"), ("skipHooks", "--no-hooks"),
          ("debug", "--debug"), ("devel", "--devel"))  # fmt: skip


class Generator:
    """Runs helm."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.options, self.loader = plugin.options, plugin.loader
        if not self.options.helm:
            raise BuildError("must specify --enable-helm")
        if not self.options.helm_command:
            raise BuildError("must specify --helm-command")
        self.chart = {
            **({"kubeVersion": self.options.helm_kube_version} if self.options.helm_kube_version else {}),
            **({"apiVersions": self.options.helm_api_versions} if self.options.helm_api_versions else {}),
            **({"debug": True} if self.options.helm_debug else {}),
            **config,
        }
        self.name: str = config.get("name", "")
        if not self.name:
            raise BuildError("chart name cannot be empty")
        self.values_file = config.get("valuesFile") or os.path.join(self.home, self.name, "values.yaml")
        self.more_values = list(config.get("additionalValuesFiles") or ())
        for place, path in enumerate(self.more_values):
            with wrapped("could not load additionalValuesFile"):
                self.loader.load(path)
            self.more_values[place] = os.path.join(self.loader.root, path)
        self.values_merge = config.get("valuesMerge") or "override"
        if self.values_merge not in _MERGES:
            raise BuildError(f"valuesMerge must be one of [{' '.join(_MERGES)}]")

    @property
    def home(self) -> str:
        """Where the chart is, or is to be put."""
        home = os.path.normpath(os.path.join(self.loader.root, self.chart.get("chartHome") or "charts"))
        if self.chart.get("version") and self.chart.get("repo"):
            return os.path.join(home, f"{self.name}-{self.chart['version']}")
        return home

    def generate(self) -> list[Resource]:
        """Return the objects of the chart."""
        folder = tempfile.mkdtemp(prefix="kustomize-helm-")
        try:
            return self._generate(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _generate(self, folder: str) -> list[Resource]:
        config_home = self.chart.get("configHome") or os.path.join(folder, "helm")
        self._check_version(self._run(["version", "--short"], config_home))
        if not os.path.isdir(os.path.join(self.home, self.name)):
            if not self.chart.get("repo"):
                raise BuildError("no repo specified for pull, no chart found at ''")
            self._run(self._pull(), config_home)
        values = os.path.join(folder, f"{self.name}-kustomize-values.yaml")
        os.makedirs(os.path.dirname(values), exist_ok=True)
        with open(values, "w", encoding="utf-8") as file:
            file.write(self._values())
        resources = from_bytes(self._run(self._template(values), config_home).encode())
        for resource in resources:
            resource.set_annotation(HELM, "true")
        return resources

    def _values(self) -> str:
        from pybernetes.tools.kubectl.kustomize.writer import as_yaml

        inline = self.chart.get("valuesInline")
        if not inline:
            return self.loader.load(self.values_file).decode("utf-8", "replace")
        if self.values_merge == "replace":
            return as_yaml(inline)
        chart = from_value(typed.load(self.loader.load(self.values_file)) or {})
        own = from_value(inline)
        merged = merge(own, chart) if self.values_merge == "override" else merge(chart, own)
        return as_yaml(to_value(merged) if merged is not None else {})

    def _pull(self) -> list[str]:
        repo = self.chart["repo"]
        line = ["pull", "--untar", "--untardir", self.home]
        line += (
            [f"{repo.removesuffix('/')}/{self.name}"]
            if repo.startswith("oci://")
            else ["--repo", repo, self.name]
        )
        if self.chart.get("version"):
            line += ["--version", self.chart["version"]]
        return line + (["--devel"] if self.chart.get("devel") else [])

    def _template(self, values: str) -> list[str]:
        chart = self.chart
        line = ["template", chart.get("releaseName") or "--generate-name", os.path.join(self.home, self.name)]
        for field, flag in (("namespace", "--namespace"), ("nameTemplate", "--name-template")):
            if chart.get(field):
                line += [flag, chart[field]]
        for path in (values, *self.more_values):
            line += ["-f", path]
        for version in chart.get("apiVersions") or ():
            line += ["--api-versions", version]
        if chart.get("kubeVersion"):
            line += ["--kube-version", chart["kubeVersion"]]
        return line + [flag for field, flag in _FLAGS if chart.get(field)]

    def _run(self, arguments: list[str], home: str) -> str:
        import subprocess

        own = {
            "HELM_CONFIG_HOME": home,
            "HELM_CACHE_HOME": f"{home}/.cache",
            "HELM_DATA_HOME": f"{home}/.data",
        }
        program = self.options.helm_command
        said, why = "", ""
        try:
            done = subprocess.run(
                [program, *arguments], env={**self.options.environment, **own}, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, errors="replace",
            )  # fmt: skip
            said, why = done.stderr, f"exit status {done.returncode}" if done.returncode else ""
        except FileNotFoundError:
            missing = "no such file or directory" if "/" in program else "executable file not found in $PATH"
            why = f"fork/exec {program}: {missing}" if "/" in program else f'exec: "{program}": {missing}'
        if "--debug" in arguments and not why:
            said = ""
        if why:
            places = " ".join(f"{key}={value}" for key, value in own.items())
            raise BuildError(
                f"{said}: unable to run: '{program} {' '.join(arguments)}' with env=[{places}] "
                f"(is '{program}' installed?): {why}"
            )
        return done.stdout

    def _check_version(self, text: str) -> None:
        match = _VERSION.search(text)
        if match is None:
            raise BuildError(f"cannot find version string in {text}")
        if match[1].split(".")[0] not in ("3", "4"):
            raise BuildError(f"this plugin requires helm V3 or V4 but got v{match[1]}")
