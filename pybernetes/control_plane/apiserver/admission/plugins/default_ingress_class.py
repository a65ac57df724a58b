"""DefaultIngressClass: ingresses that name no class get the default one."""

from __future__ import annotations

from typing import Any

from pybernetes.api import default_class
from pybernetes.control_plane.apiserver.admission.chain import CREATE, Attributes, Scope
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.context import ServerContext

_GROUP = "networking.k8s.io"
_ANNOTATION = "kubernetes.io/ingress.class"


class DefaultIngressClass:
    """The plugin."""

    name = "DefaultIngressClass"
    scope = Scope(operations=(CREATE,), resources=(f"ingresses.{_GROUP}",))

    def __init__(self, context: ServerContext, configuration: Any = None) -> None:
        self._classes = Lookup(context, _GROUP, "ingressclasses")

    def mutate(self, attributes: Attributes) -> None:
        """Fills in the class, if there is a default."""
        ingress = attributes.obj
        assert ingress is not None
        spec = ingress.setdefault("spec", {})
        annotations = ingress["metadata"].get("annotations") or {}
        if spec.get("ingressClassName") is not None or _ANNOTATION in annotations:
            return
        found = default_class.default_class(self._classes.all(), default_class.INGRESS)
        if found is not None:
            spec["ingressClassName"] = found["metadata"]["name"]


PLUGIN = DefaultIngressClass
