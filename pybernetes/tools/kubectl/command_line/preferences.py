"""The kuberc file: what a user prefers. Reads it, checks it and writes it; ``kuberc`` acts on it."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import TYPE_CHECKING, log
from pybernetes.tools.kubectl.errors import CommandError, quoted
from pybernetes.tools.kubectl.resources import manifests

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from pybernetes.api.resource import Object

GROUP = "kubectl.config.k8s.io/"
VERSION = f"{GROUP}v1beta1"
POLICIES = ("AllowAll", "DenyAll", "Allowlist")
# What the first version calls otherwise, by the level at which it stands.
_RENAMED = ({"overrides": "defaults"}, {"flags": "options"})
_FIELDS: tuple[set[str], set[str], set[str]] = (
    {"apiVersion", "kind", "defaults", "aliases", "credentialPluginPolicy", "credentialPluginAllowlist"},
    {"name", "command", "prependArgs", "appendArgs", "options"},
    {"name", "default"},
)
_LATER = {"credentialPluginPolicy", "credentialPluginAllowlist"}  # than the first version


class StrictError(CommandError):
    """The file has fields that nobody knows; the rest of it, ``preference``, can be used."""

    def __init__(self, message: str, preference: Object) -> None:
        super().__init__(message)
        self.preference = preference


def file_of(environment: Mapping[str, str], given: str) -> tuple[str, bool]:
    """Return the path of the file (empty if it is switched off), and whether somebody named it."""
    variable = environment.get("KUBERC", "")
    if variable == "off":
        if given:
            raise CommandError(
                "disabling kuberc via KUBERC=off and passing kuberc flag are mutually exclusive"
            )
        return "", False
    if given or variable:
        return given or variable, True
    return os.path.join(environment.get("HOME", "/"), ".kube", "kuberc"), False


def read(path: str) -> Object | None:
    """Return the first preference in a file; None if the file is empty. OSError if there is no file."""
    with open(path, "rb") as file:
        raw = file.read()
    attempts = 0
    try:
        for value in manifests.values(raw, path):
            attempts += 1
            problem, preference = _decoded(value)
            if preference is None:
                log.line(
                    "marshal.go:64",
                    f"kuberc: strict decoding error for entry {attempts} in {path}: {problem}",
                    5,
                )
                continue
            log.line("marshal.go:87", f"kuberc: using entry {attempts} ({value['apiVersion']}) in {path}", 5)
            if problem:
                raise StrictError(f"strict decoding error: {problem}", preference)
            return preference
    except StrictError:
        raise
    except CommandError as error:
        attempts += 1
        log.line(
            "marshal.go:64",
            f"kuberc: strict decoding error for entry {attempts} in {path}: {error.message}",
            5,
        )
    if attempts:
        raise CommandError(f"no valid preferences found in {path}, use --v=5 to see details")
    log.line("marshal.go:97", f"kuberc: no preferences found in {path}", 5)
    return None


def _decoded(value: Any) -> tuple[str, Object | None]:
    """Return what is wrong with a document, and the preference in it if it can be used nevertheless."""
    if not isinstance(value, dict) or value.get("kind") != "Preference":
        return "it is no Preference", None
    version = str(value.get("apiVersion"))
    if version not in (VERSION, f"{GROUP}v1alpha1"):
        return f'no kind "Preference" is registered for version {quoted(version)} in scheme', None
    unknown: list[str] = []
    try:
        preference = _fields(value, 0, "", unknown, version.endswith("alpha1"))
    except (TypeError, AttributeError, ValueError) as error:
        return str(error), None
    return ", ".join(f"unknown field {quoted(name)}" for name in unknown), {
        **preference,
        "apiVersion": VERSION,
    }


def _fields(value: Object, depth: int, path: str, unknown: list[str], renamed: bool) -> Object:
    names = _RENAMED[min(depth, 1)] if renamed else {}
    result: Object = {}
    # Unknown fields are told of in the order of their names.
    for key, item in sorted(value.items(), key=lambda pair: str(pair[0])):
        name = names.get(key, key)
        if name not in _FIELDS[depth] or (renamed and (key in names.values() or key in _LATER)):
            unknown.append(f"{path}{key}")
            continue
        if name in ("defaults", "aliases", "options"):
            item = [
                _fields(entry, depth + 1, f"{path}{key}[{place}].", unknown, renamed)
                for place, entry in enumerate(item or ())
            ]
        elif name == "credentialPluginAllowlist":
            item = [_allowed(entry) for entry in item] if item is not None else None
        elif name in ("prependArgs", "appendArgs"):
            item = ["" if word is None else word for word in item or ()]
            if not all(isinstance(word, str) for word in item):
                raise ValueError(f"json: cannot unmarshal a value of {path}{key} into a text")
        elif item is None:
            item = ""  # as Go reads a null
        elif not isinstance(item, str):
            raise ValueError(f"json: cannot unmarshal {path}{key} into a text")
        result[name] = item
    return result


def _allowed(entry: Object) -> Object:
    name, command = entry.get("name") or "", entry.get("command") or ""
    if name and command and name != command:
        raise ValueError(
            "both `Name` and `Command` were supplied with different values. `Name` is deprecated, use `Command` instead"
        )
    return {"command": command or name}


def check(preference: Object) -> None:
    """Refuse preferences that cannot be followed."""
    names: set[str] = set()
    for alias in preference.get("aliases") or ():
        name = alias.get("name") or ""
        if not (name.isascii() and name.isalpha()):
            raise CommandError("invalid alias name, can only include alphabetical characters")
        _check_options(alias)
        if name in names:
            raise CommandError(f"duplicate alias name {name}")
        names.add(name)
    for default in preference.get("defaults") or ():
        _check_options(default)
    _check_policy(preference)


def _check_options(entry: Object) -> None:
    for option in entry.get("options") or ():
        if option.get("name", "").startswith("-"):
            raise CommandError(f"flag name {option['name']} should be in long form without dashes")


def _check_policy(preference: Object) -> None:
    policy, allowed = (
        preference.get("credentialPluginPolicy") or "",
        preference.get("credentialPluginAllowlist"),
    )
    if policy in ("", "AllowAll", "DenyAll"):
        if allowed is not None:
            raise CommandError(
                f"misconfigured credential plugin allowlist: plugin policy is {quoted(policy)} but allowlist is non-nil"
            )
        return
    if policy != "Allowlist":
        raise CommandError(f"unknown plugin policy: {quoted(policy)}")
    begin = 'credential plugin policy set to "Allowlist", but allowlist is'
    if allowed is None:
        raise CommandError(f"{begin} unspecified")
    if not allowed:
        raise CommandError(f'{begin} empty; use "DenyAll" policy instead')
    for place, entry in enumerate(allowed, 1):
        command = entry["command"]
        if not command:
            raise CommandError(f"misconfigured credential plugin allowlist: empty allowlist entry #{place}")
        if os.path.normpath(command) != command:
            raise CommandError(
                f"non-normalized file path: {quoted(command)} vs {quoted(os.path.normpath(command))}"
            )
