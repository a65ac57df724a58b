"""Priority: the name of a pod's priority class becomes a number."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.api.scheduling.priorityclass import default_priority_class
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup, Remembered
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

_CLASSES = "priorityclasses.scheduling.k8s.io"
_PREEMPT = "PreemptLowerPriority"


class Priority(Plugin):
    """The plugin."""

    name = "Priority"
    order = 140
    on_by_default = True
    scope = Scope(resources=("pods", _CLASSES))

    def __init__(self, inputs: PluginInputs) -> None:
        self._classes = Lookup(inputs.context, "scheduling.k8s.io", "priorityclasses")
        self._default = Remembered(default_priority_class)

    def _default_class(self) -> Object | None:
        return self._default.of("", self._classes.all())

    def mutate(self, attributes: Attributes) -> None:
        """Set the priority of a new pod, and keep that of an old one."""
        if attributes.resource.plural != "pods":
            return
        pod, old = attributes.obj, attributes.old
        assert pod is not None
        if attributes.operation == CREATE:
            self._resolve(attributes, pod["spec"])
        elif old is not None:
            for key in ("priority", "preemptionPolicy"):
                if pod["spec"].get(key) is None and old["spec"].get(key) is not None:
                    pod["spec"][key] = old["spec"][key]

    def _resolve(self, attributes: Attributes, spec: dict[str, Any]) -> None:
        name = spec.get("priorityClassName")
        class_ = self._classes.get("", name) if name else self._default_class()
        if class_ is None:
            if name:
                attributes.refuse(f"no PriorityClass with name {name} was found")
            priority: int = 0
            policy: str | None = _PREEMPT
        else:
            spec["priorityClassName"] = class_["metadata"]["name"]
            priority, policy = class_.get("value", 0), class_.get("preemptionPolicy")
        _settle(attributes, spec, "priority", priority, "integer value of priority")
        if policy is not None:
            _settle(attributes, spec, "preemptionPolicy", policy, "string value of PreemptionPolicy")

    def validate(self, attributes: Attributes) -> None:
        """Refuse a second class for pods that name none."""
        if attributes.resource.plural == "pods" or not (attributes.obj or {}).get("globalDefault"):
            return
        assert attributes.obj is not None
        default = self._default_class()
        if default is None:
            return
        name = default["metadata"]["name"]
        if attributes.operation == CREATE or name != attributes.obj["metadata"].get("name"):
            attributes.refuse(
                f"PriorityClass {name} is already marked as default. Only one default can exist"
            )


def _settle(attributes: Attributes, spec: dict[str, Any], key: str, computed: Any, what: str) -> None:
    """Set what the class says, unless the pod says something else."""
    given = spec.get(key)
    if given is not None and given != computed:
        attributes.refuse(
            f"the {what} ({given}) must not be provided in pod spec; priority admission controller computed "
            f"{computed} from the given PriorityClass name"
        )
    spec[key] = computed


PLUGIN = Priority
