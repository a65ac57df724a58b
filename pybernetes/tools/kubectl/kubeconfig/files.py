"""The kubeconfig files of kubectl: the reader of every program, with kubectl's errors."""

from __future__ import annotations

import os

from pybernetes.client import kubeconfig_files
from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.files import cannot_open

if TYPE_CHECKING:
    from collections.abc import Callable

    from pybernetes.api.resource import Object


def load(files: list[str], explicit: bool, as_is: bool = False) -> Object:
    """Return several files as one configuration; a file that is missing counts if it was named explicitly.

    ``as_is`` leaves relative paths as they are.
    """
    contents = []
    for path in files:
        if os.path.exists(path):
            contents.append(
                _checked(kubeconfig_files.read_with_origins if as_is else kubeconfig_files.read, path)
            )
            log.line("loader.go:408", f"Config loaded from file:  {path}", 6)
        elif explicit:
            raise CommandError(f"stat {path}: no such file or directory")
    return kubeconfig_files.merge(contents)


def read(path: str) -> Object:
    """Return one file as it stands; an empty configuration if there is none."""
    return _checked(kubeconfig_files.read_as_is, path) if os.path.exists(path) else {}


def _checked(reader: Callable[[str], Object], path: str) -> Object:
    try:
        return reader(path)
    except kubeconfig_files.ConfigError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f'error loading config file "{path}": {cannot_open(path, error)}') from None
