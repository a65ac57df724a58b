"""Plugins that are programs, for ``--enable-alpha-plugins``: they read objects and write objects.

Functions in containers are refused with a word: they need a container engine on the user's machine.
"""

from __future__ import annotations

import os
import shlex
import tempfile

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize import typed
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.factory import from_bytes
from pybernetes.tools.kubectl.kustomize.resource import BEHAVIOR, NEEDS_HASH, Resource
from pybernetes.tools.kubectl.kustomize.resource_list import ResourceList
from pybernetes.tools.kubectl.kustomize.writer import as_yaml, documents

if TYPE_CHECKING:
    from pybernetes.tools.kubectl.kustomize.plugins import Plugin

_ID = "kustomize.config.k8s.io/id"
_HASH, _BEHAVIOR = "kustomize.config.k8s.io/needs-hash", "kustomize.config.k8s.io/behavior"
_FUNCTIONS = ("config.kubernetes.io/function", "config.k8s.io/function")
_TRUE, _FALSE = ("1", "t", "T", "true", "TRUE", "True"), ("0", "f", "F", "false", "FALSE", "False")


def refuse_function(resource: Resource) -> None:
    """Refuse a plugin that is a function."""
    if any(resource.annotation(name) for name in _FUNCTIONS):
        raise BuildError(
            f"plugin {resource.original_id} is a KRM function: functions in containers and exec functions are not "
            "supported, run them with the program kustomize"
        )


class ExecPlugin:
    """A program that generates or transforms objects."""

    def __init__(self, resource: Resource, plugin: Plugin) -> None:
        gvk = resource.original_id.gvk
        self.root, self.environment = plugin.loader.root, plugin.options.environment
        home = _home(self.environment)
        self.path = os.path.join(home, gvk.group, gvk.version, gvk.kind.lower(), gvk.kind)
        if not os.path.exists(self.path):
            raise BuildError(f"expected file with Go object code at: {self.path}.so")
        if not os.access(self.path, os.X_OK):
            raise BuildError(f"unexecutable plugin at: {self.path}")
        self.config = as_yaml(resource.value())
        value = typed.load(self.config.encode())
        try:
            self.arguments = shlex.split(str(value.get("argsOneLiner") or ""), comments=True)
        except ValueError:
            raise BuildError("failed to parse argsOneLiner: unclosed quote in string") from None
        if path := value.get("argsFromFile"):
            text = plugin.loader.load(str(path)).decode("utf-8", "replace")
            self.arguments += [line.lstrip(" ") for line in text.split("\n") if line.lstrip(" ")]

    def generate(self) -> list[Resource]:
        """Return what the program makes."""
        resources = from_bytes(self._run(b""))
        for resource in resources:
            annotations = resource.annotations
            needs_hash, behavior = annotations.pop(_HASH, "false"), annotations.pop(_BEHAVIOR, "")
            if needs_hash not in (*_TRUE, *_FALSE):
                raise BuildError(f'the annotation "{_HASH}" contains an invalid value ("{needs_hash}")')
            if needs_hash in _TRUE:
                annotations[NEEDS_HASH] = "enabled"
            known = behavior if behavior in ("create", "merge", "replace") else "unspecified"
            resource.set_map("annotations", {**annotations, BEHAVIOR: known})
        return resources

    def transform(self, resources: ResourceList) -> None:
        """Have the program change objects: those that it does not give back are gone."""
        given = ResourceList()
        for resource in resources.items:
            copied = resource.copy()
            gvk = resource.gvk
            fields = zip(("group", "kind", "name", "namespace", "version"),
                         (gvk.group, gvk.kind, resource.name, resource.namespace, gvk.version), strict=True)  # fmt: skip
            shown = as_yaml({name: value for name, value in fields if value})
            copied.set_map("annotations", {**copied.annotations, _ID: shown})
            given.items.append(copied)
        made = from_bytes(self._run(documents(given).encode()))
        by_id = {resource.id.identity(): resource for resource in resources.items}
        seen = set()
        for resource in made:
            annotations = resource.annotations
            annotations.pop(_ID, None)
            resource.set_map("annotations", annotations)
            identity = resource.id.identity()
            if identity in seen:
                raise BuildError(f"plugin {self.path} generated duplicate resource: {resource.id}")
            seen.add(identity)
            if identity in by_id:
                by_id[identity].node = resource.node
            else:
                resources.append_all([resource])
        resources.items = [item for item in resources.items if item.id.identity() in seen]

    def _run(self, data: bytes) -> bytes:
        import subprocess

        with tempfile.NamedTemporaryFile("w", prefix="kust-plugin-config-", encoding="utf-8") as file:
            file.write(self.config)
            file.flush()
            environment = {
                **self.environment, "KUSTOMIZE_PLUGIN_CONFIG_STRING": self.config,
                "KUSTOMIZE_PLUGIN_CONFIG_ROOT": self.root,
            }  # fmt: skip
            done = subprocess.run(
                [self.path, file.name, *self.arguments],
                input=data,
                env=environment,
                cwd=self.root,
                capture_output=True,
            )
            if done.returncode:
                said = done.stderr.decode("utf-8", "replace")
                raise BuildError(
                    f"{said}: failure in plugin configured via {file.name}; exit status {done.returncode}"
                )
        return done.stdout


def _home(environment: dict[str, str]) -> str:
    """Return the folder with the plugins."""
    home, config = environment.get("HOME") or "~", environment.get("XDG_CONFIG_HOME")
    places = (
        ("homed in $KUSTOMIZE_PLUGIN_HOME", environment.get("KUSTOMIZE_PLUGIN_HOME") or ""),
        ("homed in $XDG_CONFIG_HOME", f"{config}/kustomize/plugin" if config else ""),
        ("homed in default value of $XDG_CONFIG_HOME", f"{home}/.config/kustomize/plugin"),
        ("homed in home directory", f"{home}/kustomize/plugin"),
    )
    for _, place in places:
        if place and os.path.exists(place):
            return place
    tried = ", ".join(f"('{place or '<no value>'}'; {note})" for note, place in places)
    raise BuildError(f"unable to find plugin root - tried: {tried}")
