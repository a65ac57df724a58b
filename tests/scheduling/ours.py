"""The scheduler's own view of a world of API objects, kept up to date as events would."""

from __future__ import annotations

import random

from pybernetes.api.resource import Object
from pybernetes.scheduling.config import ProfileConfig, profile_config
from pybernetes.scheduling.cycle import Cycle, Decision
from pybernetes.scheduling.handle import Handle
from pybernetes.scheduling.listers import Listers
from pybernetes.scheduling.nodes import NodeReader
from pybernetes.scheduling.plugin import Outcome
from pybernetes.scheduling.pods import Pod, PodReader
from pybernetes.scheduling.profile import Profile
from pybernetes.scheduling.resource_requests import Resources
from pybernetes.scheduling.snapshot import Snapshot
from tests.scheduling.reference import World


class Ours:
    """Snapshot, listers, profile, cycle and preemption around a world."""

    def __init__(
        self,
        world: World | None = None,
        chance: random.Random | None = None,
        config: ProfileConfig | None = None,
    ) -> None:
        world = world or World()
        resources = Resources()
        self.snapshot, self.listers = Snapshot(resources, capacity=2), Listers()
        self.pods, self.nodes = PodReader(resources), NodeReader(resources)
        handle = Handle(self.snapshot, self.listers, chance=chance)
        self.nominations = handle.nominations
        self.profile = Profile(config or profile_config({}, 0), handle)
        self.cycle = Cycle(handle, self.profile)
        self.placed: dict[str, Pod] = {}
        for name, labels in world.namespaces.items():
            self.listers.set("namespaces", name, {"metadata": {"name": name, "labels": labels}})
        for service in world.services:
            self.object("services", service)
        for node in world.nodes.values():
            self.node(node)
        for name, pods in world.pods.items():
            for pod in pods:
                self.put(pod, name)

    def object(self, kind: str, obj: Object) -> None:
        """Take in an object that plugins look up."""
        meta = obj["metadata"]
        key = f"{meta['namespace']}/{meta['name']}" if "namespace" in meta else meta["name"]
        self.listers.set(kind, key, obj)

    def node(self, obj: Object) -> None:
        """Take in a node."""
        self.snapshot.set_node(self.nodes.read(obj))

    def put(self, pod: Object, node: str) -> None:
        """Put a pod onto a node."""
        placed = self.pods.read({**pod, "spec": {**pod["spec"], "nodeName": node}})
        self.placed[placed.uid] = placed
        self.snapshot.add_pod(placed)

    def take(self, uid: str) -> None:
        """Take a pod off its node."""
        self.snapshot.remove_pod(self.placed.pop(uid))

    def decide(self, obj: Object) -> Decision:
        """Return a decision about a pod."""
        return self.cycle.decide(self.pods.read(obj))

    def preempt(self, obj: Object) -> Outcome:
        """Return what preemption comes to for a pod that fits nowhere."""
        pod = self.pods.read(obj)
        decision = self.cycle.decide(pod)
        assert decision.diagnosis is not None, decision
        (plugin,) = self.profile.post_filters
        outcome = plugin.post_filter(pod, decision.diagnosis, self.cycle)
        assert outcome is not None
        return outcome

    def why_not(self, obj: Object) -> str:
        """Return the message about a pod that fits nowhere."""
        decision = self.decide(obj)
        assert decision.diagnosis is not None, decision
        return str(decision.diagnosis)
