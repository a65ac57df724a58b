"""Rules that upstream states beside the fields: their messages are terser than those of written checks."""

from __future__ import annotations

from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation.meta import IMMUTABLE


def immutable(new: Any, old: Any, path: Path, errors: Errors) -> None:
    """Report an error if a field that may not change did, without telling the value."""
    if new != old:
        errors.invalid(path, None, IMMUTABLE)
