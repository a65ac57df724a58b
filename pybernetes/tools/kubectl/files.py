"""Files that commands read: what cannot be read is told as Go tells it."""

from __future__ import annotations

from pybernetes.tools.kubectl.errors import CommandError


def read_text(path: str, before: str, after: str = "", error: type[CommandError] = CommandError) -> str:
    """Return the text of a file; an error stands between what comes before and after it."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as problem:
        raise error(f"{before}{cannot_open(path, problem)}{after}") from None


def read_bytes(path: str, before: str = "") -> bytes:
    """Return what is in a file; an error has something before it."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise CommandError(f"{before}{cannot_open(path, problem)}") from None


def cannot_open(path: str, problem: OSError) -> str:
    """Return why a file cannot be opened."""
    what = "read" if isinstance(problem, IsADirectoryError) else "open"
    return f"{what} {path}: {(problem.strerror or '').lower()}"
