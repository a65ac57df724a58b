"""Adds files to a package of one-file-per-thing from somewhere else, for as long as a test needs them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from textwrap import dedent


@contextmanager
def added_folder(package: str, folder: Path) -> Iterator[Path]:
    """Make a package find the modules of one more folder, which may still be written."""
    module = import_module(package)
    module.__path__.append(str(folder))
    try:
        yield folder
    finally:
        module.__path__.remove(str(folder))
        for path in [*folder.glob("*.py"), *(path.parent for path in folder.glob("*/__init__.py"))]:
            name = f"{package}.{path.stem}"
            for known in [known for known in sys.modules if known == name or known.startswith(f"{name}.")]:
                del sys.modules[known]
            vars(module).pop(path.stem, None)


@contextmanager
def added_file(package: str, folder: Path, name: str, text: str) -> Iterator[None]:
    """Make a package find one more module, which lives in a folder of its own."""
    (folder / f"{name}.py").write_text(dedent(text))
    with added_folder(package, folder):
        yield
