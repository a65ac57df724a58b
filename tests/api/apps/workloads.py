"""A small workload that tests change."""

from typing import Any

from pybernetes.api.resource import Object

POD = {"containers": [{"name": "c", "image": "i"}]}
LABELS = {"matchLabels": {"app": "web"}}


def template(labels: dict[str, str] | None = None, **pod: Any) -> Object:
    return {"metadata": {"labels": labels or {"app": "web"}}, "spec": {**POD, **pod}}


def workload(**spec: Any) -> Object:
    return {"spec": {"selector": LABELS, "template": template(), **spec}}
