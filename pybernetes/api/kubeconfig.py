"""What a kubeconfig says: how its entries are found, and which of them make no sense. Pure.

kubectl does this on each start: nothing is imported here that costs time.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # typing's own costs time to import
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from pybernetes.api.resource import Object

PLURALS = {"clusters": "cluster", "users": "user", "contexts": "context"}
_KINDS = {"clusters": "Cluster", "users": "AuthInfo", "contexts": "Context"}
PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_TEXTS = frozenset((
    *PATHS, *(f"{name}-data" for name in PATHS[:3]), "server", "tls-server-name", "proxy-url", "token", "username",
    "password", "as", "as-uid", "cluster", "user", "namespace",
))  # fmt: skip


def misfits(content: Object) -> Iterator[str]:
    """Yield what is of another type than it must be."""
    if not isinstance(content.get("current-context"), str | None):
        yield "current-context is no text"
    extensions = content.get("extensions")
    if not isinstance(extensions, list | None) or not all(
        isinstance(item, dict) for item in extensions or ()
    ):
        yield "extensions is no list of maps"
    for plural, singular in PLURALS.items():
        entries = content.get(plural)
        if not isinstance(entries, list | None):
            yield f"{plural} is no list"
            return
        for item in entries or ():
            settings = item.get(singular) if isinstance(item, dict) else ""
            if not isinstance(settings, dict | None) or not isinstance(item.get("name"), str | None):
                yield f"an entry of {plural} is no {singular} with a name"
                return
            yield from (f"{key} of {plural} {problem}" for key, problem in _misfit_settings(settings or {}))
        yield from _twice(plural, entries or [])


def _twice(plural: str, entries: list[Object]) -> Iterator[str]:
    """Yield the complaint about a name that two entries have, of which nobody knows which is meant."""
    names = [item.get("name") or "" for item in entries]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            break
        seen.add(name)
    else:
        return
    kind, shown = _KINDS[plural], ""
    if plural == "contexts":
        fields = [(item.get("context") or {}) for item in entries]
        texts = (
            f"{{{name} {{{' '.join(str(held.get(key) or '') for key in ('cluster', 'user', 'namespace'))} []}}}}"
            for name, held in zip(names, fields, strict=True)
        )
        shown = f" in list: [{' '.join(texts)}]"
    yield f'error converting *[]Named{kind} into *map[string]*api.{kind}: duplicate name "{name}"{shown}'


def _misfit_settings(settings: Object) -> Iterator[tuple[str, str]]:
    for key, value in settings.items():
        if value is None:
            continue
        if key in _TEXTS and not isinstance(value, str):
            yield key, "is no text"
        elif key == "as-groups" and not _is_texts(value):
            yield key, "is no list of texts"
        elif key in ("as-user-extra", "exec") and not isinstance(value, dict):
            yield key, "is no map"
        elif key == "as-user-extra" and not all(_is_texts(values or []) for values in value.values()):
            yield key, "has something else than lists of texts"
        elif key == "exec":
            yield from ((key, problem) for problem in _misfit_plugin(value))


def _misfit_plugin(value: Object) -> Iterator[str]:
    for name in ("command", "apiVersion", "installHint", "interactiveMode"):
        if not isinstance(value.get(name), str | None):
            yield f"has a {name} that is no text"
    if not _is_texts(value.get("args") or []):
        yield "has args that are no list of texts"
    variables = value.get("env") or []
    if not isinstance(variables, list) or not all(
        isinstance(variable, dict) and isinstance(variable.get("name"), str)
        and isinstance(variable.get("value"), str | None)
        for variable in variables
    ):  # fmt: skip
        yield "has an env that is no list of names and values"


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def resolve(settings: Object, directory: str) -> None:
    """Make the paths of a cluster or a user absolute; they are relative to the folder of the file."""
    for name in PATHS:
        if settings.get(name):
            settings[name] = os.path.join(directory, settings[name])
    plugin = settings.get("exec") or {}
    if "/" in (plugin.get("command") or ""):  # without a slash it is looked for on the path
        plugin["command"] = os.path.normpath(os.path.join(directory, plugin["command"]))


def merge(contents: Iterable[Object]) -> Object:
    """Return several kubeconfigs as one: of two entries with the same name the first counts."""
    merged: Object = {plural: [] for plural in PLURALS}
    for content in contents:
        for plural in PLURALS:
            entries = merged[plural]
            known = {item.get("name") for item in entries}
            entries += [item for item in content.get(plural) or () if item.get("name") not in known]
        known = {item.get("name") for item in merged.get("extensions") or ()}
        extensions = [item for item in content.get("extensions") or () if item.get("name") not in known]
        if extensions:
            merged["extensions"] = [*(merged.get("extensions") or ()), *extensions]
        for name in ("current-context", "preferences"):
            if content.get(name) and not merged.get(name):
                merged[name] = content[name]
    return merged


def entry(content: Object, plural: str, name: str) -> Object | None:
    """Return a named cluster, user or context; None if there is none."""
    for item in content.get(plural) or ():
        if item.get("name") == name:
            settings: Object = item.get(PLURALS[plural]) or {}
            return settings
    return None
