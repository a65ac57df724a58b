"""DefaultIngressClass: ingresses that name no class get the default one."""

from __future__ import annotations

from pybernetes.api import default_class
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

_GROUP = "networking.k8s.io"
_ANNOTATION = "kubernetes.io/ingress.class"


class DefaultIngressClass(Plugin):
    """The plugin."""

    name = "DefaultIngressClass"
    order = 290
    on_by_default = True
    scope = Scope(operations=(CREATE,), resources=(f"ingresses.{_GROUP}",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._classes = Lookup(inputs.context, _GROUP, "ingressclasses")

    def mutate(self, attributes: Attributes) -> None:
        """Fill in the class, if there is a default."""
        ingress = attributes.obj
        assert ingress is not None
        spec = ingress.setdefault("spec", {})
        annotations = ingress["metadata"].get("annotations") or {}
        if spec.get("ingressClassName") is not None or _ANNOTATION in annotations:
            return
        ingress_class = default_class.default_class(self._classes.all(), default_class.INGRESS)
        if ingress_class is not None:
            spec["ingressClassName"] = ingress_class["metadata"]["name"]


PLUGIN = DefaultIngressClass
