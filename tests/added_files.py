"""Adds a file to a package of one-file-per-thing from somewhere else, for as long as a test needs it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from textwrap import dedent


@contextmanager
def added_file(package: str, folder: Path, name: str, text: str) -> Iterator[None]:
    """Make a package find one more module, which lives in another folder."""
    (folder / f"{name}.py").write_text(dedent(text))
    module = import_module(package)
    module.__path__.append(str(folder))
    try:
        yield
    finally:
        module.__path__.remove(str(folder))
        sys.modules.pop(f"{package}.{name}", None)
        vars(module).pop(name, None)
