"""Jobs for tests."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object

POD: Object = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
INDEXED: Object = {"completionMode": "Indexed", "completions": 5}


def a_job(labels: dict[str, str] | None = None, pod: Object | None = None, **spec: Any) -> Object:
    """Return a job of these labels, this pod and these fields of the spec."""
    template: Object = {"spec": {**POD, **(pod or {})}}
    if labels:
        template["metadata"] = {"labels": labels}
    return {"spec": {"template": template, **spec}}
