"""Which clouds and which loops there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType

from pybernetes.control_plane.cloud.provider import CloudProvider, Factory
from pybernetes.lib import discover
from pybernetes.runtime.controller_manager.descriptor import Descriptor

PROVIDERS = "pybernetes.control_plane.cloud.providers"
CONTROLLERS = "pybernetes.control_plane.cloud.controllers"
ENTRY_POINTS = "pybernetes.cloud_providers"


def descriptors() -> dict[str, Descriptor]:
    """Return every loop by its name."""
    return discover.discover(CONTROLLERS, "CONTROLLER", key=lambda descriptor: descriptor.name)


def provider_names(wired: Iterable[str] = ()) -> list[str]:
    """Return the names of all providers: ours, those that the program wires itself, and those of installed packages."""
    plugins = {point.name for point in entry_points(group=ENTRY_POINTS)}
    return sorted({name.replace("_", "-") for name in discover.names(PROVIDERS)} | plugins | set(wired))


def factory(name: str, wired: Mapping[str, Factory]) -> Factory:
    """Return what makes a provider; ValueError if there is none of this name, or two."""
    own = name.replace("-", "_") in discover.names(PROVIDERS)
    plugins = list(entry_points(group=ENTRY_POINTS, name=name))
    if len(plugins) + own + (name in wired) > 1:
        packages = ", ".join(sorted({point.value for point in plugins}))
        raise ValueError(f'there are several cloud providers named "{name}": {packages}')
    if name in wired:
        return wired[name]
    if own:
        return discover.load(PROVIDERS, name.replace("-", "_")).PROVIDER
    if plugins:
        return plugins[0].load()
    raise ValueError(f'unknown cloud provider "{name}"; there are: {", ".join(provider_names(wired))}')


def provider(
    name: str, config_file: str = "", wired: Mapping[str, Factory] = MappingProxyType({})
) -> CloudProvider:
    """Make the provider of a name with the configuration of a file; ``wired`` are those that the program brings along."""
    make = factory(name, wired)
    try:
        return make(Path(config_file).read_text() if config_file else "")
    except (ValueError, OSError, ImportError) as error:
        raise ValueError(f'could not init cloud provider "{name}": {error}') from error
