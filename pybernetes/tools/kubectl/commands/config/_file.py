"""Changes to kubeconfig files: an entry is written to the file that it came from."""

from __future__ import annotations

import os
from typing import Any

from pybernetes.tools.kubectl import kubeconfig
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, Exit

PLURALS = {"clusters": "cluster", "users": "user", "contexts": "context"}


def needs_help(context: Context, message: str = "") -> Exit:
    """Shows the help of the command; the exit code says that something was wrong."""
    from importlib import import_module

    from pybernetes.tools.kubectl.help import show
    from pybernetes.tools.kubectl.main import _file

    words = context.path.split()[1:]
    show(
        import_module("pybernetes.tools.kubectl.commands." + ".".join(map(_file, words))),
        context.path,
        context.stdout,
    )
    if message:
        context.warn(f"error: {message}")
    return Exit(1)


def default_file(context: Context) -> str:
    """The file to which new things are written."""
    files = context.config_files
    return next((path for path in files if os.path.exists(path)), files[-1] if len(files) > 1 else files[0])


def entries(context: Context, plural: str) -> dict[str, dict[str, Any]]:
    """Names and values of clusters, users or contexts."""
    singular = PLURALS[plural]
    return {each["name"]: each.get(singular) or {} for each in context.config.get(plural) or ()}


def origin(context: Context, plural: str, name: str) -> str:
    """The file that holds an entry."""
    for each in context.config.get(plural) or ():
        if each["name"] == name:
            return each.get("@origin") or default_file(context)
    return default_file(context)


def store(context: Context, plural: str, name: str, value: dict[str, Any] | None) -> None:
    """Writes an entry to its file, or removes it."""
    path = origin(context, plural, name)
    content = kubeconfig.read(path) if os.path.exists(path) else {}
    singular = PLURALS[plural]
    listed = [each for each in content.get(plural) or () if each.get("name") != name]
    if value is not None:
        listed.append({"name": name, singular: value})
    content[plural] = sorted(listed, key=lambda each: each["name"])
    write(path, content)


def store_current(context: Context, name: str) -> None:
    """Makes a context the current one, in the file that names it or in the first."""
    for path in context.config_files:
        if os.path.exists(path):
            content = kubeconfig.read(path)
            if (
                content.get("current-context")
                or path == context.config_files[-1]
                or len(context.config_files) == 1
            ):
                content["current-context"] = name
                write(path, content)
                return
    path = default_file(context)
    content = kubeconfig.read(path) if os.path.exists(path) else {}
    content["current-context"] = name
    write(path, content)


def complete(content: dict[str, Any]) -> dict[str, Any]:
    """A configuration with the fields that every file has."""
    found = {"apiVersion": "v1", "kind": "Config", "current-context": content.get("current-context") or ""}
    for plural, singular in PLURALS.items():
        listed = content.get(plural) or []
        found[plural] = [
            {"name": each["name"], singular: each.get(singular) or {}} for each in listed
        ] or None
    for key, value in content.items():
        if key not in found and not key.startswith("@") and (value or key != "preferences"):
            found[key] = value
    return found


def write(path: str, content: dict[str, Any]) -> None:
    """Writes a file as a whole, readable for its owner only."""
    from pybernetes.tools.kubectl.printers.yaml import dumps

    directory = os.path.dirname(os.path.abspath(path))
    try:
        os.makedirs(directory, exist_ok=True)
        temporary = f"{path}.{os.getpid()}"
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(dumps(complete(content)))
        os.replace(temporary, path)
    except OSError as error:
        raise CommandError(f"open {path}: {(error.strerror or '').lower()}") from None
