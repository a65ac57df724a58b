"""From the flags and the configuration file to the plugins that run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pybernetes.control_plane.apiserver.admission import plugins
from pybernetes.control_plane.apiserver.admission.chain import Factory
from pybernetes.control_plane.apiserver.admission.order import DEFAULT_ON, ORDER
from pybernetes.lib.discover import discover

_GROUP = "apiserver.config.k8s.io/"
# The configuration of these may also be the whole file, as it was before files had versions.
_LEGACY = {"podNodeSelectorPluginConfig": "PodNodeSelector"}


def known() -> dict[str, Any]:
    """Every plugin there is, by name, in the order in which they run."""
    found = discover(plugins.__name__, "PLUGIN", key=lambda plugin: plugin.name)
    unknown = found.keys() - set(ORDER)
    if unknown:
        raise RuntimeError(
            f"these admission plugins have no place in the order: {', '.join(sorted(unknown))}"
        )
    return {name: found[name] for name in ORDER if name in found}


def names(values: Iterable[str]) -> list[str]:
    """The names in the values of a flag."""
    return [name.strip() for text in values for name in text.split(",") if name.strip()]


def chosen(enable: Iterable[str], disable: Iterable[str], available: Iterable[str]) -> list[str]:
    """The names of the plugins that run, in their order."""
    enable, disable, available = set(enable), set(disable), set(available)
    for flag, given in (("enable", enable), ("disable", disable)):
        for name in sorted(given):
            if name not in ORDER:
                raise ValueError(f'{flag}-admission-plugins plugin "{name}" is unknown')
    absent = sorted(enable - available)
    if absent:
        raise ValueError(f'enable-admission-plugins plugin "{absent[0]}" is not available in this server')
    if both := sorted(enable & disable):
        listed = " ".join(both)
        raise ValueError(f"[{listed}] in enable-admission-plugins and disable-admission-plugins overlapped")
    wanted = (DEFAULT_ON - disable) | enable
    return [name for name in ORDER if name in wanted and name in available]


def select(
    enable: Iterable[str] = (),
    disable: Iterable[str] = (),
    config_file: str = "",
    flags: Mapping[str, Any] | None = None,
) -> list[Factory]:
    """What makes the plugins that run; ``flags`` configures plugins that have flags of their own."""
    plugins_by_name = known()
    configuration = {**(flags or {}), **(read(Path(config_file)) if config_file else {})}
    running = chosen(names(enable), names(disable), plugins_by_name)
    return [partial(plugins_by_name[name], configuration=configuration.get(name)) for name in running]


def read(path: Path) -> dict[str, Any]:
    """The configuration of each plugin that the file names: an object."""
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
    return dict(_of_plugin(plugin, path) for plugin in document.get("plugins") or ())


def _of_plugin(plugin: Any, path: Path) -> tuple[str, Any]:
    """The name of a plugin and its configuration."""
    given = set(plugin) if isinstance(plugin, dict) else set()
    if "name" not in given or given - {"name", "path", "configuration"}:
        raise ValueError(f"{path}: a plugin has a name and a path or a configuration, not {plugin}")
    found = plugin.get("configuration")
    if found is None and plugin.get("path"):
        found = _load(path.parent / plugin["path"])
    return plugin["name"], found


def _load(path: Path) -> dict[str, Any]:
    import yaml  # imported late: most servers have no such file

    try:
        document = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path}: not an object")
    return document
