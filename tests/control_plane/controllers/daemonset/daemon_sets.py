"""DaemonSets, nodes and pods for tables."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from tests.control_plane.controllers.builders import meta, template

NEW, OLD = "newhash", "oldhash"


def daemon_set(
    surge: Any = 0, unavailable: Any = 1, *, strategy: str = "RollingUpdate", **spec: Any
) -> Object:
    update: Object = {"type": strategy}
    if strategy == "RollingUpdate":
        update["rollingUpdate"] = {"maxSurge": surge, "maxUnavailable": unavailable}
    given = template()
    given["spec"] |= spec.pop("pod", {})
    return {
        "metadata": meta("agent", annotations={"deprecated.daemonset.template.generation": "4"}),
        "spec": {
            "selector": {"matchLabels": {"app": "web"}}, "template": given, "updateStrategy": update, **spec,
        },
        "status": {},
    }  # fmt: skip
