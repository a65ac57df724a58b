"""Random clusters and pods, made so that rules often apply and often clash."""

from __future__ import annotations

import random
from typing import Any

from pybernetes.api.resource import Object
from tests.scheduling.reference import World

ZONE, RACK, HOST = "topology.kubernetes.io/zone", "rack", "kubernetes.io/hostname"
APPS, TIERS, NAMESPACES = ("a", "b", "c"), ("x", "y"), ("default", "other", "third")


class Maker:
    """Makes objects from one source of chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self._count = 0

    def maybe(self, probability: float) -> bool:
        return self.chance.random() < probability

    def pick(self, *values: Any) -> Any:
        return self.chance.choice(values)

    def some(self, values: tuple[str, ...]) -> list[str]:
        return self.chance.sample(values, self.chance.randint(1, len(values)))

    # -- nodes -------------------------------------------------------------------------------------------

    def node(self, name: str) -> Object:
        labels = {HOST: name} if self.maybe(0.9) else {}
        if self.maybe(0.8):
            labels[ZONE] = self.pick("z1", "z2", "z3")
        if self.maybe(0.6):
            labels[RACK] = self.pick("r1", "r2")
        if self.maybe(0.4):
            labels["disk"] = self.pick("ssd", "hdd")
        if self.maybe(0.3):
            labels["generation"] = self.pick("1", "2", "3", "old")
        amounts = {
            "cpu": self.pick("2", "4", "8"),
            "memory": self.pick("4Gi", "8Gi", "16Gi"),
            "pods": self.pick("3", "5", "110"),
        }
        if self.maybe(0.3):
            amounts["example.com/gpu"] = self.pick("1", "2", "4")
        if self.maybe(0.3):
            amounts["ephemeral-storage"] = self.pick("10Gi", "100Gi")
        spec: Object = {}
        if self.maybe(0.25):
            spec["taints"] = [self.taint() for _ in range(self.chance.randint(1, 2))]
        if self.maybe(0.1):
            spec["unschedulable"] = True
        status: Object = {"allocatable": amounts, "capacity": amounts}
        if self.maybe(0.4):
            status["images"] = [
                {
                    "names": [f"example/{app}:1", f"example/{app}@sha256:1"],
                    "sizeBytes": self.chance.randint(1, 2000) * 2**20,
                }
                for app in self.some(APPS)
            ]
        return {"metadata": {"name": name, "labels": labels}, "spec": spec, "status": status}

    def taint(self) -> Object:
        taint = {
            "key": self.pick("dedicated", "maintenance"),
            "effect": self.pick("NoSchedule", "NoExecute", "PreferNoSchedule"),
        }
        if self.maybe(0.7):
            taint["value"] = self.pick("a", "b")
        return taint

    # -- pods --------------------------------------------------------------------------------------------

    def pod(self) -> Object:
        self._count += 1
        name = f"pod-{self._count}"
        labels = {"app": self.pick(*APPS)}
        if self.maybe(0.6):
            labels["tier"] = self.pick(*TIERS)
        meta: Object = {"name": name, "namespace": self.pick(*NAMESPACES[:2]), "uid": name, "labels": labels}
        if self.maybe(0.05):
            meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        spec: Object = {"containers": [self.container() for _ in range(self.chance.randint(1, 2))]}
        if self.maybe(0.15):
            spec["initContainers"] = [self.container() for _ in range(self.chance.randint(1, 2))]
            for container in spec["initContainers"]:
                container.pop("ports", None)
                if self.maybe(0.4):
                    container["restartPolicy"] = "Always"
        if self.maybe(0.1):
            spec["overhead"] = {"cpu": "100m", "memory": "64Mi"}
        if self.maybe(0.2):
            spec["nodeSelector"] = {self.pick("disk", ZONE): self.pick("ssd", "z1")}
        if self.maybe(0.4):
            spec["tolerations"] = [self.toleration() for _ in range(self.chance.randint(1, 2))]
        affinity: Object = {}
        if self.maybe(0.3):
            affinity["nodeAffinity"] = self.node_affinity()
        if self.maybe(0.25):
            affinity["podAffinity"] = self.pod_affinity()
        if self.maybe(0.25):
            affinity["podAntiAffinity"] = self.pod_affinity()
        if affinity:
            spec["affinity"] = affinity
        if self.maybe(0.3):
            spec["topologySpreadConstraints"] = [self.spread() for _ in range(self.chance.randint(1, 2))]
        spec["priority"] = self.pick(0, 0, 10, 100)
        return {"metadata": meta, "spec": spec, "status": {}}

    def container(self) -> Object:
        amounts = {}
        if self.maybe(0.8):
            amounts["cpu"] = self.pick("100m", "500m", "1", "1500m", "3")
        if self.maybe(0.8):
            amounts["memory"] = self.pick("64Mi", "1Gi", "3Gi", "500M")
        if self.maybe(0.1):
            amounts["example.com/gpu"] = self.pick("1", "2")
        if self.maybe(0.1):
            amounts["ephemeral-storage"] = self.pick("1Gi", "20Gi")
        container: Object = {"name": f"c{self.chance.random()}", "image": f"example/{self.pick(*APPS)}:1"}
        if amounts:
            container["resources"] = {"requests": amounts}
        if self.maybe(0.1):
            port = {"containerPort": 80, "hostPort": self.pick(80, 81)}
            if self.maybe(0.5):
                port["hostIP"] = self.pick("10.0.0.1", "10.0.0.2")
            if self.maybe(0.2):
                port["protocol"] = "UDP"
            container["ports"] = [port]
        return container

    def toleration(self) -> Object:
        if self.maybe(0.2):
            return {"operator": "Exists"}
        result = {"key": self.pick("dedicated", "maintenance", "node.kubernetes.io/unschedulable")}
        if self.maybe(0.5):
            result["operator"] = "Exists"
        else:
            result["value"] = self.pick("a", "b")
        if self.maybe(0.6):
            result["effect"] = self.pick("NoSchedule", "NoExecute", "PreferNoSchedule")
        return result

    def node_expression(self) -> Object:
        operator = self.pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
        if operator in ("Gt", "Lt"):
            return {"key": "generation", "operator": operator, "values": [self.pick("1", "2")]}
        result: Object = {"key": self.pick("disk", ZONE, RACK), "operator": operator}
        if operator in ("In", "NotIn"):
            result["values"] = self.some(("ssd", "z1", "z2", "r1"))
        return result

    def node_selector_term(self) -> Object:
        term: Object = {}
        if self.maybe(0.95):
            term["matchExpressions"] = [self.node_expression() for _ in range(self.chance.randint(1, 2))]
        if self.maybe(0.1):
            operator = self.pick("In", "NotIn")
            term["matchFields"] = [
                {"key": "metadata.name", "operator": operator, "values": [self.pick("n0", "n1")]}
            ]
        return term

    def node_affinity(self) -> Object:
        result: Object = {}
        if self.maybe(0.6):
            terms = [self.node_selector_term() for _ in range(self.chance.randint(1, 2))]
            result["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        if self.maybe(0.6):
            result["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.chance.randint(1, 100), "preference": self.node_selector_term()}
                for _ in range(self.chance.randint(1, 2))
            ]
        return result

    def selector(self) -> Object:
        if self.maybe(0.1):
            return {}
        if self.maybe(0.6):
            return {"matchLabels": {"app": self.pick(*APPS)}}
        operator = self.pick("In", "NotIn", "Exists", "DoesNotExist")
        expression: Object = {"key": self.pick("app", "tier"), "operator": operator}
        if operator in ("In", "NotIn"):
            expression["values"] = self.some((*APPS, *TIERS))
        return {"matchExpressions": [expression]}

    def pod_term(self) -> Object:
        term: Object = {"topologyKey": self.pick(ZONE, HOST, RACK)}
        if self.maybe(0.95):
            term["labelSelector"] = self.selector()
        if self.maybe(0.2):
            term["namespaces"] = self.some(NAMESPACES)
        if self.maybe(0.2):
            term["namespaceSelector"] = (
                {} if self.maybe(0.3) else {"matchLabels": {"team": self.pick("red", "blue")}}
            )
        return term

    def pod_affinity(self) -> Object:
        result: Object = {}
        if self.maybe(0.6):
            result["requiredDuringSchedulingIgnoredDuringExecution"] = [
                self.pod_term() for _ in range(self.chance.randint(1, 2))
            ]
        if self.maybe(0.6):
            result["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": self.chance.randint(1, 100), "podAffinityTerm": self.pod_term()}
                for _ in range(self.chance.randint(1, 2))
            ]
        return result

    def spread(self) -> Object:
        hard = self.maybe(0.6)
        result: Object = {
            "maxSkew": self.chance.randint(1, 3),
            "topologyKey": self.pick(ZONE, HOST, RACK),
            "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        }
        if self.maybe(0.9):
            result["labelSelector"] = self.selector()
        if hard and self.maybe(0.3):
            result["minDomains"] = self.chance.randint(1, 4)
        if self.maybe(0.3):
            result["matchLabelKeys"] = self.some(("tier", "missing"))
        if self.maybe(0.3):
            result["nodeAffinityPolicy"] = self.pick("Honor", "Ignore")
        if self.maybe(0.3):
            result["nodeTaintsPolicy"] = self.pick("Honor", "Ignore")
        return result

    # -- a cluster ---------------------------------------------------------------------------------------

    def world(self) -> World:
        world = World()
        world.namespaces = {"default": {"team": "red"}, "other": {"team": "blue"}, "third": {}}
        for number in range(self.chance.randint(1, 8)):
            world.nodes[f"n{number}"] = self.node(f"n{number}")
        if self.maybe(0.3):
            selector = {"app": self.pick(*APPS)}
            world.services.append(
                {"metadata": {"name": "s", "namespace": "default"}, "spec": {"selector": selector}}
            )
        for _ in range(self.chance.randint(0, 15)):
            world.pods.setdefault(self.pick(*world.nodes), []).append(self.pod())
        return world
