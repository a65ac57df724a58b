"""Taints of devices, which keep away pods that do not tolerate them."""

from __future__ import annotations

from pybernetes.api import current_time
from pybernetes.api.dynamic_resources import _names
from pybernetes.api.dynamic_resources._claims import EFFECTS
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object


def default_taint(taint: Object) -> None:
    """Note when the taint was added."""
    if "timeAdded" not in taint:
        taint["timeAdded"] = current_time.timestamp()


def validate_taint(taint: Object, path: Path, errors: Errors, late: Errors) -> None:
    """Check a taint."""
    _names.label_key(taint.get("key", ""), path / "key", errors)
    if taint.get("value"):
        _names.label_value(taint["value"], path / "value", errors)
    effect = taint.get("effect", "")
    if not effect:
        late.required(path / "effect")
    elif effect not in EFFECTS:
        late.unsupported(path / "effect", effect, EFFECTS)
