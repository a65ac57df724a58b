"""LimitRanger: pods and claims stay within the limit ranges of their namespace, which also fill in what is usual."""

from __future__ import annotations

from itertools import islice

from pybernetes.api.quota import limit_ranges
from pybernetes.control_plane.apiserver.admission.attributes import UPDATE, Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import Plugin, PluginInputs, Scope

_MOST_PROBLEMS = 100


class LimitRanger(Plugin):
    """The plugin."""

    name = "LimitRanger"
    order = 60
    on_by_default = True
    scope = Scope(resources=("pods", "persistentvolumeclaims"), subresources=("", "resize"))

    def __init__(self, inputs: PluginInputs) -> None:
        self._limit_ranges = Lookup(inputs.context, "", "limitranges")

    def mutate(self, attributes: Attributes) -> None:
        """Give containers the requests and limits that they lack."""
        ranges = self._limit_ranges.all(attributes.namespace)
        if ranges and attributes.resource.plural == "pods" and _concerns(attributes):
            assert attributes.obj is not None
            for limit_range in ranges:
                limit_ranges.default_pod(limit_range, attributes.obj)

    def validate(self, attributes: Attributes) -> None:
        """Refuse what asks for too little or too much."""
        ranges = self._limit_ranges.all(attributes.namespace)
        if not ranges or not _concerns(attributes):
            return
        check = (
            limit_ranges.pod_problems if attributes.resource.plural == "pods" else limit_ranges.claim_problems
        )
        assert attributes.obj is not None
        for limit_range in ranges:
            # What a pod does not name at all is a problem each: many resources times many containers are not gone through.
            problems = list(dict.fromkeys(islice(check(limit_range, attributes.obj), _MOST_PROBLEMS)))
            if problems:
                attributes.refuse(problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]")


def _concerns(attributes: Attributes) -> bool:
    """Return whether limits are checked: requests change by a resize only, and never after deletion has begun."""
    if attributes.operation != UPDATE:
        return True
    if attributes.resource.plural == "pods" and not attributes.subresource:
        return False
    return not (attributes.old or {}).get("metadata", {}).get("deletionTimestamp")


PLUGIN = LimitRanger
