"""kubeconfig files: where they are, what is in them, several as one.

Every program reads them with these functions. kubectl does so on each start: nothing is imported here that costs
time, and plain files are read without the YAML library.
"""

from __future__ import annotations

import os

from pybernetes.api.kubeconfig import PATHS as PATHS
from pybernetes.api.kubeconfig import PLURALS, misfits, resolve
from pybernetes.api.kubeconfig import entry as entry
from pybernetes.api.kubeconfig import merge as merge

TYPE_CHECKING = False  # typing's own costs time to import
if TYPE_CHECKING:
    from collections.abc import Mapping

    from pybernetes.api.resource import Object

ORIGIN = "@origin"  # the key under which an entry keeps the path of its file


class ConfigError(ValueError):
    """A configuration is missing, broken or says something that is not supported."""


def paths(environment: Mapping[str, str]) -> list[str]:
    """Return the usual files, in order of precedence: those of $KUBECONFIG, else ~/.kube/config."""
    listed = [path for path in environment.get("KUBECONFIG", "").split(os.pathsep) if path]
    return listed or [os.path.join(environment.get("HOME", "/"), ".kube", "config")]


def read(path: str | os.PathLike[str]) -> Object:
    """Return the content of a file; ConfigError if it is no kubeconfig.

    Paths in it become absolute, and each entry keeps the path of the file under ``ORIGIN``.
    """
    content = read_with_origins(path)
    directory = os.path.dirname(os.path.abspath(path))
    for plural, singular in PLURALS.items():
        for item in content.get(plural) or ():
            resolve(item.get(singular) or {}, directory)
    return content


def read_with_origins(path: str | os.PathLike[str]) -> Object:
    """Return the content of a file as it stands, but that each entry keeps the path of the file under ``ORIGIN``."""
    content = read_as_is(path)
    for plural in PLURALS:
        for item in content.get(plural) or ():
            item[ORIGIN] = os.fspath(path)
    return content


def read_as_is(path: str | os.PathLike[str]) -> Object:
    """Return the content of a file as it stands; ConfigError if it is no kubeconfig."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise ConfigError(f'error loading config file "{path}": it is not UTF-8') from None
    from pybernetes.lib.plain_yaml import NotPlain, parse

    try:
        content = parse(text)
    except NotPlain:
        from pybernetes.api.text.yaml_reader import YamlError, loads

        try:
            content = loads(text.encode())[0]
        except YamlError as error:
            raise ConfigError(f'error loading config file "{path}": {error}') from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f'error loading config file "{path}": it is not a kubeconfig')
    kind, version = content.get("kind") or "Config", content.get("apiVersion") or "v1"
    if (kind, version) != ("Config", "v1"):
        scheme = "k8s.io/client-go/tools/clientcmd/api/latest/latest.go:50"  # what the original says
        raise ConfigError(
            f'error loading config file "{path}": no kind "{kind}" is registered for version "{version}" in scheme '
            f'"{scheme}"'
        )
    for problem in misfits(content):
        raise ConfigError(f'error loading config file "{path}": {problem}')
    return content
