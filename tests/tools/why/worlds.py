"""Objects to ask about, and what is around them."""

from typing import Any

from pybernetes.client.refs import EVENTS, Ref
from pybernetes.tools.why.finding import Finding
from pybernetes.tools.why.world import World


def obj(name: str, kind: str = "", spec: Any = None, status: Any = None, **meta: Any) -> dict[str, Any]:
    """Return an object in the namespace shop."""
    made = {"metadata": {"namespace": "shop", "name": name, "uid": f"uid-{name}", **meta}, "spec": spec or {}}
    return {**made, **({"kind": kind} if kind else {}), **({"status": status} if status else {})}


def world(*known: tuple[Ref, list[dict[str, Any]]], events: dict[str, str] | None = None) -> World:
    """Return a world with these objects, and with events by their reasons."""
    result = World()
    for ref, objects in known:
        result.put(ref, objects)
    made = [
        {**obj(f"e{number}"), "reason": reason, "message": message, "type": "Warning"}
        for number, (reason, message) in enumerate((events or {}).items())
    ]
    return result.put(EVENTS, made)


def causes(findings: list[Finding]) -> list[str]:
    """Return the titles of causes."""
    return [finding.title for finding in findings if finding.cause]


def is_true(type_: str, status: str = "True", **more: str) -> dict[str, str]:
    """Return a condition."""
    return {"type": type_, "status": status, **more}
