"""What the tests of running workloads share."""

from __future__ import annotations

from pybernetes.api.resource import Object


def status(obj: Object) -> Object:
    return obj.get("status", {})


def images(pods: list[Object]) -> set[str]:
    return {pod["spec"]["containers"][0]["image"] for pod in pods}


def has(obj: Object, type_: str, reason: str = "") -> bool:
    return any(
        condition["type"] == type_
        and condition["status"] == "True"
        and reason in ("", condition.get("reason"))
        for condition in status(obj).get("conditions", ())
    )
