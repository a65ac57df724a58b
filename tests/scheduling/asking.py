"""Asks single plugins about pods."""

from __future__ import annotations

import numpy as np

from pybernetes.api.resource import Object
from pybernetes.scheduling.config import profile_config
from pybernetes.scheduling.plugin import FilterPlugin, ScorePlugin
from tests.scheduling.ours import Ours


def world(*nodes: Object, config: Object | None = None) -> Ours:
    ours = Ours(config=profile_config(config or {}, 0))
    for obj in nodes:
        ours.node(obj)
    return ours


def put(ours: Ours, on: str, obj: Object) -> None:
    obj["metadata"]["uid"] = obj["metadata"].get("uid", f"{on}/{obj['metadata']['name']}")
    ours.put(obj, on)


def refused(ours: Ours, plugin: str, obj: Object) -> dict[str, tuple[str, ...]]:
    """Return the reasons of each node."""
    instance, made = ours.profile.plugins[plugin], ours.pods.read(obj)
    assert isinstance(instance, FilterPlugin)
    if instance.filter_key(made) is None:
        return {}
    codes = instance.filter(made, ours.snapshot.all)
    return {
        ours.snapshot.names[row]: instance.reasons(made, int(code)) for row, code in enumerate(codes) if code
    }


def scores(ours: Ours, plugin: str, obj: Object) -> dict[str, int]:
    instance, made = ours.profile.plugins[plugin], ours.pods.read(obj)
    assert isinstance(instance, ScorePlugin)
    if instance.score_key(made) is None:
        return {}
    rows = np.arange(ours.snapshot.size)
    values = instance.score(made, rows)
    if instance.normalizes:
        values = instance.normalize(made, values, rows)
    return {ours.snapshot.names[row]: int(value) for row, value in enumerate(values)}
