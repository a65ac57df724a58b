"""A small workload that tests change."""

from typing import Any

POD = {"containers": [{"name": "c", "image": "i"}]}
LABELS = {"matchLabels": {"app": "web"}}


def template(labels: dict[str, str] | None = None, **pod: Any) -> dict[str, Any]:
    return {"metadata": {"labels": labels or {"app": "web"}}, "spec": {**POD, **pod}}


def workload(**spec: Any) -> dict[str, Any]:
    return {"spec": {"selector": LABELS, "template": template(), **spec}}
