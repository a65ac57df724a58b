"""Changes to kubeconfig files: an entry is written to the file that it came from, one change at a time."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from pybernetes.client.kubeconfig_files import ORIGIN, PATHS, PLURALS
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.kubeconfig.files import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pybernetes.api.resource import Object
    from pybernetes.tools.kubectl.context import Context

# Fields that are written though empty, and those of fields.
_ALWAYS = {"clusters": ("server",), "contexts": ("cluster", "user")}
_INNER: dict[str, Object] = {
    "exec": {"args": None, "command": "", "env": None, "provideClusterInfo": False},
    "auth-provider": {"config": None, "name": ""},
}


def default_file(context: Context) -> str:
    """Return the file to which new entries are written."""
    files = context.config_files
    return next((path for path in files if os.path.exists(path)), files[-1] if len(files) > 1 else files[0])


def entries(context: Context, plural: str) -> dict[str, Object]:
    """Return the values of clusters, users or contexts by name."""
    singular = PLURALS[plural]
    return {entry["name"]: entry.get(singular) or {} for entry in context.config.get(plural) or ()}


def origin(context: Context, plural: str, name: str) -> str:
    """Return the file that holds an entry."""
    for entry in context.config.get(plural) or ():
        if entry["name"] == name:
            return entry.get(ORIGIN) or default_file(context)
    return default_file(context)


def store(context: Context, plural: str, name: str, value: Object | None) -> None:
    """Write an entry to its file, or remove it."""
    path, singular = origin(context, plural, name), PLURALS[plural]
    with changing(path) as content:
        listed = [other for other in content.get(plural) or () if other.get("name") != name]
        if value is not None:
            listed.append({"name": name, singular: value})
        content[plural] = sorted(listed, key=lambda entry: entry["name"])


def relative(context: Context, plural: str, name: str, value: Object) -> Object:
    """Return an entry as it is written: what lies under the folder of its file is named from there."""
    directory = os.path.dirname(os.path.abspath(origin(context, plural, name)))
    written: Object = {
        key: _from(directory, item) if key in PATHS and item else item for key, item in value.items()
    }
    plugin = written.get("exec") or {}
    if "/" in (plugin.get("command") or ""):
        command = _from(directory, plugin["command"])
        # Without a slash it would be looked for on the path.
        written["exec"] = {**plugin, "command": command if "/" in command else f"./{command}"}
    return written


def _from(directory: str, path: str) -> str:
    whole = path if os.path.isabs(path) else os.path.normpath(os.path.join(directory, path))
    shorter = os.path.relpath(whole, directory)
    return whole if shorter.startswith("..") else shorter


def complete(content: Object) -> Object:
    """Return a configuration with the fields that every file has."""
    completed = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": content.get("current-context") or "",
    }
    for plural, singular in PLURALS.items():
        listed = sorted(content.get(plural) or [], key=lambda entry: entry["name"])
        fields = dict.fromkeys(_ALWAYS.get(plural, ()), "")
        completed[plural] = [
            {"name": entry["name"], singular: {**fields, **_filled(entry.get(singular) or {})}}
            for entry in listed
        ] or None
    for key, value in content.items():
        if key not in completed and not key.startswith("@") and (value or key != "preferences"):
            completed[key] = value
    return completed


def _filled(entry: Object) -> Object:
    filled = {
        key: {**_INNER[key], **value} if key in _INNER and isinstance(value, dict) else value
        for key, value in entry.items()
    }
    plugin = filled.get("exec")
    if isinstance(plugin, dict):
        variables = [{"value": "", **variable} for variable in plugin["env"] or ()] or plugin["env"]
        filled["exec"] = {
            key: variables if key == "env" else value
            for key, value in plugin.items()
            if value or key != "apiVersion"
        }
    return filled


@contextmanager
def changing(path: str) -> Iterator[Object]:
    """Yield what is in a file to be changed, and write it back; nobody else changes it meanwhile."""
    lock = f"{path}.lock"
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0))
    except OSError as error:
        raise CommandError(f"open {lock}: {(error.strerror or '').lower()}") from None
    try:
        content = read(path)
        yield content
        _write(path, content)
    finally:
        os.unlink(lock)


def _write(path: str, content: Object) -> None:
    """Write a file as a whole; a new one is for its owner only, another stays whose it is and where a link leads to."""
    from pybernetes.tools.kubectl.output.yaml.printer import dumps

    if os.path.exists(path) and complete(read(path)) == complete(content):
        return  # nothing changes: how the user wrote it stays
    place = os.path.realpath(path)
    temporary = f"{place}.{os.urandom(8).hex()}"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "w") as file:
            if os.path.exists(place):
                state = os.stat(place)
                with suppress(PermissionError):
                    os.fchown(handle, state.st_uid, state.st_gid)
                os.fchmod(handle, state.st_mode & 0o777)
            file.write(dumps(complete(content)))
        os.replace(temporary, place)
    except OSError as error:
        raise CommandError(f"open {path}: {(error.strerror or '').lower()}") from None
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)
