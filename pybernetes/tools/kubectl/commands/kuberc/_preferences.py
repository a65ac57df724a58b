"""Preferences as the commands of kuberc show and write them."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line.preferences import VERSION, StrictError, file_of, read
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output.yaml.printer import dumps

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


def chosen(context: Context) -> tuple[str, bool]:
    """Return the path of the file, and whether somebody named it; refuse if preferences are switched off."""
    path, explicit = file_of(context.environment, context.flags.kuberc)
    if not path:
        raise CommandError("KUBERC is disabled via KUBERC=off environment variable")
    return path, explicit


def load(path: str) -> Object | None:
    """Return the preferences of a file; None if it is empty. FileNotFoundError if there is none."""
    try:
        return read(path)
    except FileNotFoundError:
        raise
    except StrictError as error:
        raise CommandError(f"error reading kuberc file: {error.message}") from None
    except OSError as error:
        why = f"open {path}: {(error.strerror or '').lower()}"
        raise CommandError(f"error reading kuberc file: {why}") from None
    except CommandError as error:
        raise CommandError(f"error reading kuberc file: {error.message}") from None


def shown(preference: Object) -> Object:
    """Return preferences as they are printed and written: every list there is, in the order of the type."""
    value: Object = {"kind": "Preference", "apiVersion": VERSION}
    value["defaults"] = [
        {"command": entry.get("command", ""), "options": entry.get("options")}
        for entry in preference.get("defaults") or ()
    ] or preference.get("defaults")
    order = ("name", "command", "prependArgs", "appendArgs", "options")
    value["aliases"] = [
        {key: entry[key] for key in order if entry.get(key)} for entry in preference.get("aliases") or ()
    ] or preference.get("aliases")
    for key in ("credentialPluginPolicy", "credentialPluginAllowlist"):
        if preference.get(key):
            value[key] = preference[key]
    return value


def write(path: str, preference: Object) -> None:
    """Write preferences to a file."""
    folder = os.path.dirname(path)
    try:
        if folder:
            os.makedirs(folder, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(dumps(shown(preference)))
    except OSError as error:
        why = f"open {path}: {(error.strerror or '').lower()}"
        raise CommandError(f"failed to write kuberc file: {why}") from None
