"""Plugins: programs on the path that are named kubectl-SOMETHING."""

from __future__ import annotations

import os
import sys

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import Verbatim

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "kubectl-"


def run(arguments: list[str], least: int = 1) -> None:
    """Become the plugin with the longest name that the arguments begin with; return if there is none.

    A name has at least ``least`` words: ``create foo`` is never looked for as ``create``.
    """
    words: list[str] = []
    for argument in arguments:
        if argument.startswith("-"):
            break
        words.append(argument.replace("-", "_"))
    if not words:
        raise Verbatim(f"Error: flags cannot be placed before plugin name: {arguments[0]}")
    for count in range(len(words), least - 1, -1):
        if path := _find("-".join(words[:count])):
            environment = {**os.environ, "KUBECTL_PATH": own_path()}
            try:
                os.execve(path, [path, *arguments[count:]], environment)
            except OSError as error:
                raise Verbatim(f"Error: {(error.strerror or str(error)).lower()}") from None


def own_path() -> str:
    """Return the path of a program that is this kubectl."""
    started = os.path.abspath(os.environ.get("KUBECTL_BUNDLE") or sys.argv[0] or "kubectl")
    if started.endswith("__main__.py"):
        return os.path.join(os.path.dirname(started), "kubectl")
    return started


def _find(name: str) -> str:
    if "/" in name:
        return ""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.normpath(os.path.join(folder or ".", PREFIX + name))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def listed(path: str, complain: object) -> Iterator[str]:
    """Yield the files on a search path that are named like plugins; ``complain`` is told of unreadable folders."""
    for folder in dict.fromkeys(path.split(os.pathsep)):
        if not folder.strip():
            continue
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            why = f"open {folder}: {(error.strerror or '').lower()}"
            complain(f'Unable to read directory "{folder}" from your PATH: {why}. Skipping...')  # type: ignore[operator]
            continue
        for entry in entries:
            if entry.name.startswith(PREFIX) and not entry.is_dir(follow_symlinks=False):
                yield os.path.normpath(os.path.join(folder, entry.name))
