"""PodNodeSelector: namespaces say on which nodes their pods run."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.api.validation import names
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope, failure

ANNOTATION = "scheduler.alpha.kubernetes.io/node-selector"
_DEFAULT = "clusterDefaultNodeSelector"
Labels = dict[str, str]


class PodNodeSelector(Plugin):
    """The plugin; its configuration gives a selector for namespaces without one, and what each namespace may select."""

    name = "PodNodeSelector"
    order = 130
    configurable = True
    scope = Scope(operations=(CREATE,), resources=("pods",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._namespaces = Lookup(inputs.context, "", "namespaces")
        self._selectors: Labels = (inputs.configuration or {}).get("podNodeSelectorPluginConfig") or {}

    def mutate(self, attributes: Attributes) -> None:
        """Merge the namespace's selector into the pod's."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        merged = {**self._of_namespace(attributes.namespace), **(spec.get("nodeSelector") or {})}
        if merged:
            spec["nodeSelector"] = merged
        self.validate(attributes)

    def validate(self, attributes: Attributes) -> None:
        """Refuse a selector that contradicts the namespace's, or goes beyond what is permitted."""
        assert attributes.obj is not None
        given = attributes.obj["spec"].get("nodeSelector") or {}
        wanted = self._of_namespace(attributes.namespace)
        if any(given.get(key, value) != value for key, value in wanted.items()):
            raise _refusal(attributes, "conflicts with its namespace node label selector")
        permitted = parse(self._selectors.get(attributes.namespace, ""))
        if permitted and not given.items() <= permitted.items():
            raise _refusal(attributes, "labels conflict with its namespace whitelist")

    def _of_namespace(self, name: str) -> Labels:
        namespace = self._namespaces.get("", name)
        if namespace is None:
            raise errors.not_found("", "namespaces", name)
        annotations = namespace["metadata"].get("annotations") or {}
        return parse(annotations.get(ANNOTATION, self._selectors.get(_DEFAULT, "")))


def _refusal(attributes: Attributes, why: str) -> Exception:
    assert attributes.obj is not None
    name = attributes.obj["metadata"].get("name", "")
    return errors.forbidden("", "pods", name, f"pod node label selector {why}")


def parse(text: str) -> Labels:
    """Return labels that are written as ``a=b,c=d``."""
    labels: Labels = {}
    for part in text.split(",") if text else ():
        pieces = part.split("=")
        if len(pieces) != 2:
            raise failure(f"invalid selector: [{' '.join(pieces)}]")
        key, value = (piece.strip() for piece in pieces)
        for problem in [*names.qualified_name(key), *names.label_value(value)]:
            raise failure(f"invalid selector: [{' '.join(pieces)}]: {problem}")
        labels[key] = value
    return labels


PLUGIN = PodNodeSelector
