"""From the flags and the configuration file to the plugins that run."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pybernetes.api.resource import Object
from pybernetes.api.strict_types import RAW, STRING, Many, Problem, Struct
from pybernetes.control_plane.apiserver.admission import plugins
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs
from pybernetes.lib.discover import discover
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.context import ServerContext

_GROUP = "apiserver.config.k8s.io/"
# The configuration of these may also be the whole file, as it was before files had versions.
_LEGACY = {"podNodeSelectorPluginConfig": "PodNodeSelector"}
# Plugins of Kubernetes that this server does not have. They may be disabled.
UNAVAILABLE = frozenset({"EventRateLimit", "ImagePolicyWebhook", "PodGroupProtection"})
FLAGS = (
    Flag("enable-admission-plugins", (), "admission plugins to run besides those that are on by default"),
    Flag("disable-admission-plugins", (), "admission plugins not to run although they are on by default"),
    Flag("admission-control-config-file", "", "configuration of the admission plugins"),
)
# Makes a plugin for a server.
Factory = Callable[["ServerContext"], Plugin]


def all_plugins() -> dict[str, type[Plugin]]:
    """Return every plugin in the folder of plugins, by name, in the order in which they run."""
    known: dict[str, type[Plugin]] = discover(plugins.__name__, "PLUGIN", key=lambda plugin: plugin.name)
    return dict(sorted(known.items(), key=lambda entry: (entry[1].order, entry[0])))


def flags() -> list[Flag]:
    """Return the flags of admission, those of the plugins included."""
    return [*FLAGS, *(flag for plugin in all_plugins().values() for flag in plugin.flags)]


def names(values: Iterable[str]) -> list[str]:
    """Return the names in the values of a flag."""
    return [name.strip() for text in values for name in text.split(",") if name.strip()]


def chosen(
    enable: Collection[str], disable: Collection[str], available: dict[str, type[Plugin]]
) -> list[type[Plugin]]:
    """Return the plugins that run, in their order; ValueError names what makes no sense."""
    for flag, given in (("enable", enable), ("disable", disable)):
        for name in sorted(given):
            if name not in available and name not in UNAVAILABLE:
                raise ValueError(f'{flag}-admission-plugins plugin "{name}" is unknown')
    absent = sorted(set(enable) & UNAVAILABLE)
    if absent:
        raise ValueError(f'enable-admission-plugins plugin "{absent[0]}" is not available in this server')
    if both := sorted(set(enable) & set(disable)):
        listed = " ".join(both)
        raise ValueError(f"[{listed}] in enable-admission-plugins and disable-admission-plugins overlapped")
    return [
        plugin
        for name, plugin in available.items()
        if name in enable or (plugin.on_by_default and name not in disable)
    ]


def select(arguments: argparse.Namespace) -> list[Factory]:
    """Return what makes the plugins that run; ValueError names what cannot be configured."""
    path = arguments.admission_control_config_file
    configurations = read(Path(path)) if path else {}
    enable, disable = names(arguments.enable_admission_plugins), names(arguments.disable_admission_plugins)
    running = chosen(enable, disable, all_plugins())
    for plugin in running:
        if configurations.get(plugin.name) is not None and not plugin.configurable:
            raise ValueError(f"{path}: {plugin.name}: a configuration is not supported by this server")
    return [partial(_make, plugin, configurations.get(plugin.name), arguments) for plugin in running]


def _make(
    plugin: type[Plugin], configuration: Any, arguments: argparse.Namespace, context: ServerContext
) -> Plugin:
    return plugin(PluginInputs(context, configuration, arguments))


def read(path: Path) -> dict[str, Any]:
    """Return the configuration of each plugin that the file names."""
    try:
        document = _load(path)
    except OSError as error:
        raise ValueError(
            f'unable to read admission control configuration from "{path}" [{error.strerror}]'
        ) from None
    version, kind = document.get("apiVersion", ""), document.get("kind", "")
    if kind != "AdmissionConfiguration" or version.removeprefix(_GROUP) not in ("v1", "v1alpha1"):
        for key, name in _LEGACY.items():
            if key in document:
                return {name: document}
        raise ValueError(
            f"{path}: no AdmissionConfiguration of {_GROUP}v1: apiVersion is {version!r}, kind is {kind!r}"
        )
    try:
        decoded = _document(version).decode(document, ())
    except Problem as problem:
        raise ValueError(f"{path}: {problem}") from None
    return dict(_of_plugin(plugin, path) for plugin in decoded.get("plugins") or ())


def _document(version: str) -> Struct:
    """Return what an AdmissionConfiguration may say."""
    short = version.removeprefix(_GROUP)
    fields = {"name": STRING, "path": STRING, "configuration": RAW}
    plugins = Many(Struct(f"{short}.AdmissionPluginConfiguration", fields))
    return Struct(
        f"{short}.AdmissionConfiguration", {"kind": STRING, "apiVersion": STRING, "plugins": plugins}
    )


def _of_plugin(plugin: Any, path: Path) -> tuple[str, Any]:
    """Return the name of a plugin and its configuration."""
    given = set(plugin) if isinstance(plugin, dict) else set()
    if "name" not in given or given - {"name", "path", "configuration"}:
        raise ValueError(f"{path}: a plugin has a name and a path or a configuration, not {plugin}")
    configuration = plugin.get("configuration")
    if configuration is None and plugin.get("path"):
        configuration = _load(path.parent / plugin["path"])
    return plugin["name"], configuration


def _load(path: Path) -> Object:
    import yaml  # imported late: most servers have no such file

    try:
        document = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path}: not an object")
    return document
