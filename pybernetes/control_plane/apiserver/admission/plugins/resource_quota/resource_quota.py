"""ResourceQuota: nothing is made that a quota of its namespace has no room for.

It is the last of the plugins: what it has charged is spoken for, and only the quota controller gives it back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable

from pybernetes.api.quota.evaluators import Evaluators
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope
from pybernetes.control_plane.apiserver.admission.plugins.resource_quota.configuration import (
    limited_resources,
)
from pybernetes.control_plane.apiserver.admission.plugins.resource_quota.reserve import Reservations
from pybernetes.control_plane.apiserver.context import ServerContext


class _Cluster:
    """The objects that the usage of claims for devices depends on."""

    def __init__(self, context: ServerContext) -> None:
        self._classes = Lookup(context, "resource.k8s.io", "deviceclasses")
        self._claims = Lookup(context, "resource.k8s.io", "resourceclaims")
        self._pods = Lookup(context, "", "pods", keep=False)

    def device_classes(self) -> Iterable[Object]:
        return self._classes.all()

    def claims(self, namespace: str) -> Iterable[Object]:
        return self._claims.all_objects(namespace)

    def pod(self, namespace: str, name: str) -> Object | None:
        return self._pods.get(namespace, name)


class ResourceQuota(Plugin):
    """The plugin."""

    name = "ResourceQuota"
    order = 380
    on_by_default = True
    configurable = True
    scope = Scope(subresources=None)

    def __init__(self, inputs: PluginInputs) -> None:
        self._limited = limited_resources(inputs.configuration)
        self._quotas = Lookup(inputs.context, "", "resourcequotas")
        self._evaluators = Evaluators(_Cluster(inputs.context))
        self._reservations = Reservations(inputs.context, self._quotas, self._limited)

    def is_idle(self, operation: str, resource: str, subresource: str) -> bool:
        """Return whether it is about a part that no quota counts."""
        plural, _, group = resource.partition(".")
        evaluator = self._evaluators.get(group, plural) if subresource else None
        return bool(subresource) and (evaluator is None or subresource not in evaluator.subresources)

    def validate(self, attributes: Attributes) -> Awaitable[None] | None:
        """Charge the quotas of the namespace, or refuse."""
        namespace, resource = attributes.namespace, attributes.resource
        if not namespace or (resource.plural == "namespaces" and not resource.group):
            return None
        if not self._limited and not self._quotas.all(namespace):
            return None
        evaluator = self._evaluators.get(resource.group, resource.plural)
        if evaluator is None or attributes.obj is None:
            return None
        if not evaluator.handles(
            attributes.operation, attributes.subresource, attributes.obj, attributes.old
        ):
            return None
        return self._reservations.reserve(evaluator, attributes)


PLUGIN = ResourceQuota
