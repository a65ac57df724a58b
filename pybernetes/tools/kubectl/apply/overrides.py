"""--overrides: changes to an object that a command makes, before it is sent."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.local_patch import patched
from pybernetes.tools.kubectl.errors import CommandError

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


FLAGS = """
- override-type string {default} | how the overrides are meant: json, merge or strategic
- overrides string | JSON with changes to the object
"""


def apply(value: Object, text: str, kind: str) -> Object:
    """Return the object with the overrides."""
    if not text:
        return value
    import json

    try:
        patch = json.loads(text)
    except ValueError:
        raise CommandError("Invalid JSON Patch") from None
    if kind not in ("", "json", "merge", "strategic"):
        raise CommandError(f"invalid override type: {kind}")
    return patched(value, patch, kind or "merge")
