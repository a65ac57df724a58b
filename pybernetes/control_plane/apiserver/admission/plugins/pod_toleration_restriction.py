"""PodTolerationRestriction: namespaces say what their pods tolerate by default, and what they may tolerate."""

from __future__ import annotations

from typing import Any

import orjson

from pybernetes.api import errors
from pybernetes.api.core.pod import tolerations
from pybernetes.api.core.pod.qos_class import qos_class
from pybernetes.control_plane.apiserver.admission.attributes import CREATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope, failure

_PREFIX = "scheduler.alpha.kubernetes.io/"
DEFAULTS, PERMITTED = f"{_PREFIX}defaultTolerations", f"{_PREFIX}tolerationsWhitelist"
_MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}


class PodTolerationRestriction(Plugin):
    """The plugin; its configuration has ``default`` and ``whitelist`` for namespaces that say nothing."""

    name = "PodTolerationRestriction"
    order = 160
    configurable = True
    scope = Scope(resources=("pods",))

    def __init__(self, inputs: PluginInputs) -> None:
        self._namespaces = Lookup(inputs.context, "", "namespaces")
        self._configuration = inputs.configuration or {}

    def mutate(self, attributes: Attributes) -> None:
        """Merge the defaults of the namespace, or of the cluster, into the pod."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        extra: list[dict[str, Any]] = []
        if attributes.operation == CREATE:
            extra += self._of_namespace(attributes.namespace, DEFAULTS, "default")[0]
        if (attributes.obj.get("status", {}).get("qosClass") or qos_class(spec)) != "BestEffort":
            extra.append(_MEMORY_PRESSURE)
        if extra:
            spec["tolerations"] = tolerations.merge(
                spec.get("tolerations") or (), [dict(toleration) for toleration in extra]
            )
        self.validate(attributes)

    def validate(self, attributes: Attributes) -> None:
        """Refuse tolerations beyond those that are permitted."""
        assert attributes.obj is not None
        given = attributes.obj["spec"].get("tolerations") or ()
        permitted, scope = self._of_namespace(attributes.namespace, PERMITTED, "whitelist")
        if given and not tolerations.allowed(given, permitted):
            text = "pod tolerations (possibly merged with namespace default tolerations) conflict with its "
            raise failure(f"{text}{scope} whitelist")

    def _of_namespace(self, namespace: str, annotation: str, key: str) -> tuple[list[dict[str, Any]], str]:
        namespace_object = self._namespaces.get("", namespace)
        if namespace_object is None:
            raise errors.not_found("", "namespaces", namespace)
        text = (namespace_object["metadata"].get("annotations") or {}).get(annotation)
        if text is None:
            return self._configuration.get(key) or [], "cluster"
        if not text:
            return [], "namespace"
        try:
            parsed = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise failure(str(error)) from None
        if not isinstance(parsed, list) or not all(isinstance(toleration, dict) for toleration in parsed):
            raise failure(f"the annotation {annotation} of namespace {namespace} is no list of tolerations")
        return parsed, "namespace"


PLUGIN = PodTolerationRestriction
