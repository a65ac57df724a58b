"""/statusz and /flagz: what every component says about itself, as text and, on request, as an object."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from pybernetes import KUBERNETES_VERSION

PATHS = ("/flagz", "/statusz")
_GROUP = "config.k8s.io"
_VERSIONS = ("v1alpha1", "v1beta1")
_TEXT = "text/plain; charset=utf-8"
_NOT_SHOWN = ("/apis", "/api", "/openid", "/openapi", "/.well-known")
_HEAD = (
    "\n{} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees "
    "and is for debugging purposes only.\n"
)
_SECRETS = ("password", "secret", "token")
_FILES = ("file", "path", "dir", "auth", "syncs", "ttl", "expiration")


class Answer(NamedTuple):
    """What is sent back."""

    body: bytes
    status: int = 200
    content_type: str = _TEXT
    headers: tuple[tuple[str, str], ...] = ()


class Zpages:
    """The two pages of a component. ``paths`` says what else it serves."""

    def __init__(
        self, name: str, flags: Mapping[str, str], paths: Callable[[], Iterable[str]], now: Callable[[], float] = time.time
    ) -> None:  # fmt: skip
        self.name, self.flags, self._paths, self._now = name, flags, paths, now
        self.started = now()

    def answer(self, path: str, accept: str = "") -> Answer:
        """Answers for one of PATHS, in the form that the caller accepts."""
        kind = "Statusz" if path == "/statusz" else "Flagz"
        form = negotiated(accept, kind)
        if form is None:
            return _not_acceptable()
        media, version = form
        if media == "text/plain":
            return Answer((self._status() if kind == "Statusz" else self._flags()).encode())
        value = {"kind": kind, "apiVersion": f"{_GROUP}/{version}", "metadata": {"name": self.name}}
        value |= self._facts() if kind == "Statusz" else {"flags": dict(sorted(self.flags.items()))}
        content_type = f"{media};g={_GROUP};v={version};as={kind}"
        old = f'299 - "This version of the {path[1:]} endpoint is deprecated. Please use a newer version."'
        return Answer(
            _encoded(value, media), 200, content_type, (("Warning", old),) if version == "v1alpha1" else ()
        )

    def _facts(self) -> dict[str, Any]:
        version = ".".join(KUBERNETES_VERSION.removeprefix("v").split(".")[:2])
        firsts = {f"/{path.split('/')[1]}" for path in (*self._paths(), *PATHS) if path.strip("/")}
        return {
            "startTime": datetime.fromtimestamp(int(self.started), UTC).isoformat().replace("+00:00", "Z"),
            "uptimeSeconds": max(0, int(self._now() - self.started)),
            "goVersion": "python" + ".".join(str(part) for part in sys.version_info[:3]),
            "binaryVersion": version,
            "emulationVersion": version,
            "paths": sorted(firsts - set(_NOT_SHOWN)),
        }

    def _status(self) -> str:
        facts = self._facts()
        seconds = facts["uptimeSeconds"]
        began = datetime.fromtimestamp(int(self.started), UTC).strftime("%a %b %e %H:%M:%S UTC %Y")
        return (
            f"{_HEAD.format(self.name, 'statusz')}\nStarted: {began}\n"
            f"Up: {seconds // 3600} hr {seconds // 60 % 60:02} min {seconds % 60:02} sec\n"
            f"Go version: {facts['goVersion']}\nBinary version: {facts['binaryVersion']}\n"
            f"Emulation version: {facts['emulationVersion']}\nPaths: {' '.join(facts['paths'])}\n"
        )

    def _flags(self) -> str:
        lines = "".join(f"{name}: {value}\n" for name, value in sorted(self.flags.items()))
        return _HEAD.format(self.name, "flagz") + lines


def flags_of(options: argparse.Namespace, parser: argparse.ArgumentParser | None = None) -> dict[str, str]:
    """Return the flags of a command line as texts; what could be a secret is not shown.

    With a parser, flags go by its names, for those that keep their values under other ones.
    """
    if parser is not None:
        names = {
            action.dest: action.option_strings[-1].lstrip("-")
            for action in parser._actions
            if action.option_strings
        }
    else:
        names = {name: name.replace("_", "-") for name in vars(options)}
    values = {flag: getattr(options, name, None) for name, flag in names.items() if name != "help"}
    return {flag: _text(flag, value) for flag, value in values.items() if not callable(value)}


def negotiated(accept: str, kind: str) -> tuple[str, str] | None:
    """Return the media type and version that suit an Accept header; text if anything does, None if nothing does."""
    for clause in accept.split(",") if accept.strip() else ["*/*"]:
        media, *rest = (part.strip() for part in clause.split(";"))
        words = dict(part.partition("=")[::2] for part in rest)
        if media in ("*/*", "text/*", "text/plain"):
            return "text/plain", ""
        if (
            media in ("application/json", "application/yaml")
            and (words.get("g"), words.get("as")) == (_GROUP, kind)
            and words.get("v") in _VERSIONS
        ):
            return media, words["v"]
    return None


def _text(name: str, value: Any) -> str:
    if value and any(word in name for word in _SECRETS) and not any(word in name for word in _FILES):
        return "CLASSIFIED"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return f"[{','.join(map(str, value))}]"
    if isinstance(value, dict):
        return ",".join(f"{key}={_text('', item)}" for key, item in value.items())
    return "" if value is None else str(value)


def _encoded(value: dict[str, Any], media: str) -> bytes:
    if media == "application/json":
        return json.dumps(value, indent=2).encode()
    import yaml

    return yaml.safe_dump(value).encode()


def _not_acceptable() -> Answer:
    message = "only the following media types are accepted: application/json, application/yaml, text/plain"
    status = {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": "NotAcceptable", "code": 406,
    }  # fmt: skip
    return Answer(json.dumps(status, indent=2).encode(), 406, "application/json")
