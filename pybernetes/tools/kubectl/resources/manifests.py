"""Manifests: files, directories, addresses and standard input as objects."""

from __future__ import annotations

import os
import socket
import time

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.addresses import complaint
from pybernetes.tools.kubectl.connection.json_text import loads as json_loads
from pybernetes.tools.kubectl.errors import CommandError, NoConnection, quoted
from pybernetes.tools.kubectl.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_RETRY_SECONDS = 1.0  # before a server that fails is asked for a file again
EXTENSIONS = (".json", ".yaml", ".yml")
_SEPARATOR = rb"(?m)^---[ \t]*(?:#.*)?\r?$|^---(?=[ \t]+\S)"


def expand(names: list[str], recursive: bool) -> list[str]:
    """Return the files that arguments of -f name; patterns and directories are expanded."""
    import glob

    files: list[str] = []
    for name in names:
        if name == "-" or name.startswith(("http://", "https://")):
            files.append(name)
            continue
        matches = [name] if os.path.exists(name) else sorted(glob.glob(name))
        if not matches:
            raise CommandError(f'the path "{name}" does not exist')
        before = len(files)
        for path in matches:
            files += _files(path, recursive) if os.path.isdir(path) else [path]
        if len(files) == before and not before:
            raise CommandError(
                f"error reading [{' '.join(matches)}]: recognized file extensions are [{' '.join(EXTENSIONS)}]"
            )
    return files


def missing(names: list[str]) -> None:
    """Refuse the first name that means no file."""
    import glob

    for name in names:
        if name != "-" and not name.startswith(("http://", "https://")) and not os.path.exists(name):
            if not glob.glob(name):
                raise CommandError(f'the path "{name}" does not exist')


def _files(directory: str, recursive: bool) -> Iterator[str]:
    for entry in sorted(os.scandir(directory), key=lambda item: item.name):
        if entry.is_dir():
            if recursive:
                yield from _files(entry.path, True)
        elif entry.name.endswith(EXTENSIONS):
            yield entry.path


def read(name: str, stdin: Any) -> tuple[bytes, str]:
    """Return the bytes of a file, an address or standard input, and what messages call it."""
    if name == "-":
        source = getattr(stdin, "buffer", stdin)
        data = source.read()
        return data if isinstance(data, bytes) else data.encode(), "STDIN"
    if name.startswith(("http://", "https://")):
        return _download(name), name
    return read_bytes(name), name


def _download(url: str) -> bytes:
    import urllib.error
    import urllib.request

    if wrong := complaint(url):
        raise CommandError(f"the URL passed to filename {quoted(url)} is not valid: {wrong}")
    for tries_left in (2, 1, 0):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            if error.code < 500 or not tries_left:
                raise CommandError(
                    f"unable to read URL {quoted(url)}, server reported {error.code} {error.reason}, "
                    f"status code={error.code}"
                ) from None
            time.sleep(_RETRY_SECONDS)
        except (OSError, ValueError) as error:
            raise unreachable(url, getattr(error, "reason", error)) from None
    raise AssertionError


def unreachable(url: str, reason: Any) -> NoConnection:
    """Return the error of a server that did not answer, in the words of Go."""
    host = url.partition("://")[2].partition("/")[0]
    if isinstance(reason, ConnectionRefusedError):
        return NoConnection(f"dial tcp {host}: connect: connection refused", host)
    if isinstance(reason, socket.gaierror):
        return NoConnection(f"dial tcp: lookup {host.partition(':')[0]}: no such host")
    return NoConnection((getattr(reason, "strerror", None) or str(reason)).lower())


def values(raw: bytes, source: str) -> Iterator[Any]:
    """Yield the documents of a YAML or JSON text in order, without empty ones."""
    stripped = raw.lstrip()
    if stripped[:1] == b"{":
        yield from _json(raw, source)
        return
    yield from _yaml(raw, source)


def _yaml(raw: bytes, source: str) -> Iterator[Any]:
    import re

    from pybernetes.api.text.yaml_reader import YamlError, loads

    parts = re.split(_SEPARATOR, raw)
    for index, part in enumerate(parts):
        if not part.strip():
            continue
        if index > 1 or parts[0]:  # the line of the separator is none of the document's
            part = part.removeprefix(b"\r").removeprefix(b"\n") if index else part
        try:
            value, _ = loads(part)  # of a key that is repeated the last one counts; the server may complain
        except YamlError as error:
            raise CommandError(f"error parsing {source}: error converting YAML to JSON: {error}") from None
        if value is not None:
            yield value


def _json(raw: bytes, source: str) -> Iterator[Any]:
    try:
        yield json_loads(raw)
        return
    except ValueError:
        pass
    import json  # the only reader that tells where a value ends

    decoder = json.JSONDecoder()
    text = whole = raw.decode("utf-8", "replace").lstrip()
    count, blanks = 0, len(raw) - len(raw.lstrip())
    while text:
        try:
            value, end = decoder.raw_decode(text)
        except ValueError:
            place = blanks + len(whole.encode()) - len(text.encode())
            yield from _ambiguous(text, source, count, place)
            return
        yield value
        count += 1
        text = text[end:].lstrip()


def _ambiguous(text: str, source: str, count: int, place: int) -> Iterator[Any]:
    """Yield what the rest of a text is as YAML; it was JSON up to a place, and after two values it is that for certain."""
    from pybernetes.api.text.json_reader import END, JsonError
    from pybernetes.api.text.json_reader import loads as strict

    problem = ""
    try:
        strict(text.encode())
    except JsonError as error:
        if error.plain == END:
            problem = "unexpected EOF"
        else:
            problem = error.plain if count > 1 else f"json: offset {place + error.offset + 1}: {error.plain}"
    refused = CommandError(f"error parsing {source}: {problem}")
    if count > 1:
        raise refused
    documents = _yaml(text.encode(), source)
    try:
        first = next(documents, None)
    except CommandError:
        raise refused from None
    if first is not None:
        yield first
        yield from documents
