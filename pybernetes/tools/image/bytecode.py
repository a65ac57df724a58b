"""Compiled Python modules that are the same bytes whenever and wherever they are made.

What Python writes itself holds the time of the source, and its encoding depends on what else the process has in memory.
Here the header holds a hash that is never checked (nobody changes a module inside of an image), and the older encoding
without references between values is used, which depends on the module alone.
"""

from __future__ import annotations

import importlib.util
import marshal
import sys
import warnings

MAGIC = importlib.util.MAGIC_NUMBER
_UNCHECKED_HASH = (0b01).to_bytes(4, "little")
_WITHOUT_REFERENCES = 2


def path(module: str) -> str:
    """Return where Python looks for the compiled form of a module's file."""
    folder, _, name = module.rpartition("/")
    stem = name.removesuffix(".py")
    return f"{folder}/__pycache__/{stem}.{sys.implementation.cache_tag}.pyc".removeprefix("/")


def compiled(source: bytes, name: str) -> bytes | None:
    """Return the compiled form of a module; None if it is not for this version of Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    except (SyntaxError, ValueError):
        return None
    return (
        MAGIC
        + _UNCHECKED_HASH
        + importlib.util.source_hash(source)
        + marshal.dumps(code, _WITHOUT_REFERENCES)
    )
