"""URLRewrite: another host or path for the backend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.filters import Filter
from pybernetes.control_plane.gateway.filters._paths import replacement
from pybernetes.control_plane.gateway.model import Changes, Rewrite


def _change(config: Object, changes: Changes, _resolve: Callable[[Object], str]) -> Changes:
    return replace(changes, rewrite=Rewrite(config.get("hostname", ""), replacement(config.get("path"))))


FILTER = Filter("URLRewrite", "urlRewrite", _change)
