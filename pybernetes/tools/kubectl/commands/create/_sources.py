"""Data of config maps and secrets: files, literals and files of assignments."""

from __future__ import annotations

import os
import re

from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.files import read_bytes

SOURCES = """
- append-hash bool false | append a hash of the data to the name
- from-env-file list | file with lines of the form key=value
- from-file list | file, or key=file, or directory whose files become keys
- from-literal array | key=value; may be repeated
"""
_KEY = re.compile(r"[-._a-zA-Z0-9]+\Z")


def gather(context: Context, what: str) -> list[tuple[str, bytes]]:
    """Return keys and values in the order in which they are given."""
    flags = context.flags
    if flags.from_env_file and (flags.from_file or flags.from_literal):
        raise CommandError("from-env-file cannot be combined with from-file or from-literal")
    pairs: list[tuple[str, bytes]] = []
    for text in flags.from_literal:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise CommandError(f"invalid literal source {text}, expected key=value")
        pairs.append((key, value.encode()))
    files: list[tuple[str, bytes]] = []
    for text in flags.from_file:
        files += _of_file(text)
    for path in flags.from_env_file:
        pairs += _of_env_file(path, what)
    return pairs + files if not files else files + pairs


def _of_file(text: str) -> list[tuple[str, bytes]]:
    key, equals, path = text.partition("=")
    if text.count("=") > 1:
        raise CommandError("key names or file paths cannot contain '='")
    if not equals:
        key, path = os.path.basename(text), text
    elif not key:
        raise CommandError(f"key name for file path {path} missing")
    elif not path:
        raise CommandError(f"file path for key name {key} missing")
    if not os.path.exists(path):
        raise CommandError(f"error reading {path}: no such file or directory")
    if os.path.isdir(path):
        if equals:
            raise CommandError("cannot give a key name for a directory path")
        names = sorted(entry.name for entry in os.scandir(path) if entry.is_file())
        return [(name, read_bytes(os.path.join(path, name))) for name in names if _KEY.match(name)]
    return [(key, read_bytes(path))]


def _of_env_file(path: str, what: str) -> list[tuple[str, bytes]]:
    if not os.path.exists(path):
        raise CommandError(f"error reading {path}: no such file or directory")
    if os.path.isdir(path):
        raise CommandError(f"env {what} file cannot be a directory")
    pairs = []
    for number, raw in enumerate(read_bytes(path).splitlines()):
        line = raw.decode("utf-8", "replace").lstrip("\ufeff").lstrip()
        if not line or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        check_variable(key)
        pairs.append((key, (value if equals else os.environ.get(key, "")).encode()))
        _ = number
    return pairs


def is_variable(name: str) -> bool:
    """Return whether this can be the name of an environment variable."""
    return re.match(r"[-._a-zA-Z][-._a-zA-Z0-9]*\Z", name) is not None


def check_variable(name: str) -> None:
    """Refuse what cannot be the name of an environment variable."""
    if not is_variable(name):
        raise CommandError(
            f'"{name}" is not a valid key name: a valid environment variable name must consist of alphabetic '
            "characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or "
            "'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
        )


def check_key(key: str) -> list[str]:
    """Return what is wrong with the key of a config map."""
    if len(key) > 253:
        return ["must be no more than 253 bytes"]
    if not _KEY.match(key):
        return [
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
            "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
        ]
    if key in (".", "..") or key.startswith(".."):
        return [f"must not be '{key}'" if key in (".", "..") else "must not start with '..'"]
    return []


def hash_of(text: str) -> str:
    """Return the hash that --append-hash appends to a name."""
    import hashlib

    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    return digest.translate(str.maketrans("013ae", "ghkmt"))
