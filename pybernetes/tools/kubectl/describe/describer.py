"""Describes objects: by the file of the kind, or field by field if it has none."""

from __future__ import annotations

import os

from pybernetes.tools.kubectl import import_named
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe import __path__ as _folders
from pybernetes.tools.kubectl.describe._writer import Writer
from pybernetes.tools.kubectl.resources.info import Info


def describe(context: Context, info: Info, events: bool = True) -> str:
    """Return an object in words, with its events."""
    kind = info.resource.kind.lower()
    writer = Writer(context, info, events)
    module = "_generic"
    if any(os.path.exists(os.path.join(folder, f"{kind}.py")) for folder in _folders):
        # Kinds of other groups may have the names of ours.
        if info.resource.group == import_named(f"{__package__}.{kind}").GROUP:
            module = kind
    import_named(f"{__package__}.{module}").describe(writer, info.object)
    return writer.text()
