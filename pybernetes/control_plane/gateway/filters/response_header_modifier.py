"""ResponseHeaderModifier: sets, adds and removes headers of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.filters import Filter
from pybernetes.control_plane.gateway.filters._headers import header_changes
from pybernetes.control_plane.gateway.model import Changes


def _change(config: Object, changes: Changes, _resolve: Callable[[Object], str]) -> Changes:
    return replace(changes, response=header_changes(config))


FILTER = Filter("ResponseHeaderModifier", "responseHeaderModifier", _change, per_backend=True)
