"""Pods for tests."""

from __future__ import annotations

import copy
from typing import Any

from pybernetes.api.core.pod.pod import RESOURCE
from pybernetes.api.resource import Object

CONTAINER = {"name": "a", "image": "nginx:1"}


def make(metadata: Object | None = None, **spec: Any) -> Object:
    """Return a pod as it is stored after a create."""
    pod = {
        "metadata": {"name": "p", **(metadata or {})},
        "spec": copy.deepcopy({"containers": [CONTAINER], **spec}),
    }
    assert RESOURCE.default and RESOURCE.prepare_create
    RESOURCE.default(pod)
    RESOURCE.prepare_create(pod)
    return pod


def changed(pod: Object, path: str, value: Any) -> Object:
    """Return a copy with one field set; a part that is a number is an index, None removes the field."""
    result = copy.deepcopy(pod)
    *parts, last = (int(part) if part.isdigit() else part for part in path.split("."))
    holder: Any = result
    for part in parts:
        holder = holder[part] if isinstance(part, int) else holder.setdefault(part, {})
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return result
