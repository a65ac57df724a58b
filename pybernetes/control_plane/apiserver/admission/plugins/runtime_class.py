"""RuntimeClass: pods carry the overhead of their runtime class and go where it can run."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from pybernetes.api import resource_list
from pybernetes.api.core.pod import tolerations
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

_MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_WITHOUT = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class RuntimeClass(Plugin):
    """The plugin."""

    name = "RuntimeClass"
    order = 240
    on_by_default = True
    scope = Scope(operations=(CREATE,), resources=("pods",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._classes = Lookup(inputs.context, "node.k8s.io", "runtimeclasses")

    def mutate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Complete the pod by what its class says."""
        assert attributes.obj is not None
        name = attributes.obj["spec"].get("runtimeClassName")
        return None if name is None else self._complete(attributes, name)

    async def _complete(self, attributes: Attributes, name: str) -> None:
        class_ = await self._classes.fresh("", name)
        if class_ is None:
            attributes.refuse(f"pod rejected: RuntimeClass {go_format.quote(name)} not found")
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        overhead = _overhead(class_)
        if overhead is not None:
            if spec.get("overhead") and not resource_list.equal(spec["overhead"], overhead):
                attributes.refuse(_MISMATCH)
            spec["overhead"] = dict(overhead)
        if class_.get("scheduling") is not None:
            self._schedule(attributes, class_["scheduling"])

    def _schedule(self, attributes: Attributes, scheduling: dict[str, Any]) -> None:
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        selector = dict(spec.get("nodeSelector") or {})
        for key, value in (scheduling.get("nodeSelector") or {}).items():
            given = selector.setdefault(key, value)
            if given != value:
                attributes.refuse(
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                    f"pod.spec.nodeSelector[{key}] = {given}"
                )
        if selector:
            spec["nodeSelector"] = selector
        more = [dict(toleration) for toleration in scheduling.get("tolerations") or ()]
        if more or spec.get("tolerations"):
            spec["tolerations"] = tolerations.merge(spec.get("tolerations") or (), more)

    def validate(self, attributes: Attributes) -> None:
        """Refuse an overhead that is not that of the class."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        name, given = spec.get("runtimeClassName"), spec.get("overhead")
        if name is None and given is None:
            return
        class_ = self._classes.get("", name) if name is not None else None
        if name is not None and class_ is None:
            attributes.refuse(f"pod rejected: RuntimeClass {go_format.quote(name)} not found")
        wanted = _overhead(class_) if class_ is not None else None
        if wanted is not None:
            if not resource_list.equal(wanted, given or {}):
                attributes.refuse(_MISMATCH)
        elif given is not None:
            attributes.refuse(_WITHOUT)


def _overhead(class_: Object) -> dict[str, str] | None:
    overhead = class_.get("overhead")
    return None if overhead is None else overhead.get("podFixed") or {}


PLUGIN = RuntimeClass
