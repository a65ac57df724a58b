"""ClusterRole aggregation: roles that are made of the rules of others, selected by labels."""

from __future__ import annotations

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.client.refs import CLUSTER_ROLES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.runtime.cache import Cache
from pybernetes.runtime.controller import Controller

MANAGER = "clusterrole-aggregation-controller"


def by_aggregated(role: Object) -> tuple[str, ...]:
    """Index the roles that are aggregated from others."""
    return ("yes",) if role.get("aggregationRule") else ()


def aggregated(role: Object, roles: Cache) -> list[Object]:
    """Return the rules of an aggregated role, each once, in the order of the names of the others."""
    rules: list[Object] = []
    for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
        selected = roles.select(selectors.from_object(selector))
        for other in sorted(selected, key=lambda obj: obj["metadata"]["name"]):
            if other["metadata"]["name"] == role["metadata"]["name"]:
                continue
            rules += [rule for rule in other.get("rules") or () if rule not in rules]
    return rules


class ClusterRoleAggregationController(Controller):
    """Works on names of roles."""

    name = "clusterrole-aggregation-controller"
    kind = CLUSTER_ROLES
    indexes = {CLUSTER_ROLES: (by_aggregated,)}

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        changed = (
            old is None
            or new is None
            or old.get("rules") != new.get("rules")
            or old["metadata"].get("labels") != new["metadata"].get("labels")
            or old.get("aggregationRule") != new.get("aggregationRule")
        )
        if changed and self.cache(CLUSTER_ROLES).synced:  # before that each comes up itself
            for key in self.objects.find_keys(by_aggregated, "yes"):
                self.enqueue(key)
        return changed and new is not None and bool(new.get("aggregationRule"))

    async def reconcile(self, key: str) -> None:
        """Write the rules of an aggregated role."""
        role = self.objects.get(key)
        if role is None or not role.get("aggregationRule"):
            return
        rules = aggregated(role, self.objects)
        if rules != (role.get("rules") or []):
            await self.client.apply(
                CLUSTER_ROLES, {"metadata": {"name": key}, "rules": rules}, manager=MANAGER, force=True
            )


CONTROLLER = Descriptor(
    name=ClusterRoleAggregationController.name,
    aliases=("clusterrole-aggregation",),
    identity="clusterrole-aggregation-controller",
    build=lambda runtime, options: ClusterRoleAggregationController(runtime),
)
