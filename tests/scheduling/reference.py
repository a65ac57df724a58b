"""The rules of filtering and scoring once more, plain and slow: node by node, pod by pod, on API objects.

It shares nothing with the scheduler but quantities, and is what the scheduler is compared with. It is one long file so
that it can be read from top to bottom beside upstream's rules.
"""

from __future__ import annotations

import math
from fractions import Fraction

from pybernetes.api import quantity
from pybernetes.api.resource import Object

HOSTNAME = "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class World:
    """Nodes, the pods on them, and what else the rules look at."""

    def __init__(self) -> None:
        self.nodes: dict[str, Object] = {}
        self.pods: dict[str, list[Object]] = {}  # by node
        self.namespaces: dict[str, dict[str, str]] = {}
        self.services: list[Object] = []

    def on(self, node: str) -> list[Object]:
        """Return the pods on a node."""
        return self.pods.get(node, [])


# -- matching ------------------------------------------------------------------------------------------------


def labels_of(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def selects(selector: Object | None, labels: dict[str, str]) -> bool:
    """Return whether a LabelSelector matches; none matches nothing, an empty one everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(requirement(expression, labels) for expression in selector.get("matchExpressions", ()))


def requirement(expression: Object, labels: dict[str, str]) -> bool:
    key, values = expression["key"], expression.get("values", [])
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    try:
        number, limit = int(labels[key]), int(values[0])
    except (KeyError, ValueError):
        return False
    return number > limit if expression["operator"] == "Gt" else number < limit


def node_term(term: Object, node: Object) -> bool:
    expressions, fields = term.get("matchExpressions", []), term.get("matchFields", [])
    if not expressions and not fields:
        return False
    for field in fields:
        if (node["metadata"]["name"] == field["values"][0]) is not (field["operator"] == "In"):
            return False
    return all(requirement(expression, labels_of(node)) for expression in expressions)


def allowed_by_affinity(pod: Object, node: Object) -> bool:
    spec = pod["spec"]
    if any(labels_of(node).get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
        return False
    required = spec.get("affinity", {}).get("nodeAffinity", {}).get(REQUIRED)
    return required is None or any(node_term(term, node) for term in required["nodeSelectorTerms"])


def tolerates(pod: Object, taint: Object, effects: tuple[str, ...] | None = None) -> bool:
    for toleration in pod["spec"].get("tolerations", ()):
        if effects is not None and toleration.get("effect", "") not in effects:
            continue
        if toleration.get("effect") and toleration["effect"] != taint["effect"]:
            continue
        if toleration.get("key") and toleration["key"] != taint["key"]:
            continue
        if toleration.get("operator", "Equal") == "Exists" or toleration.get("value", "") == taint.get(
            "value", ""
        ):
            return True
    return False


def turned_away(pod: Object, node: Object) -> bool:
    return any(
        taint["effect"] in ("NoSchedule", "NoExecute") and not tolerates(pod, taint)
        for taint in node["spec"].get("taints", ())
    )


# -- amounts -------------------------------------------------------------------------------------------------


def requests(pod: Object, defaults: bool = False) -> dict[str, int]:
    """Return what a pod asks for; with defaults for CPU and memory where a container asks for none."""
    spec = pod["spec"]

    def of(container: Object) -> dict[str, Fraction]:
        requests = {
            name: quantity.parse(text)
            for name, text in container.get("resources", {}).get("requests", {}).items()
        }
        if defaults:
            requests.setdefault("cpu", Fraction(1, 10))
            requests.setdefault("memory", Fraction(200 * 2**20))
        return requests

    total: dict[str, Fraction] = {}
    for container in spec["containers"]:
        add(total, of(container))
    sidecars: dict[str, Fraction] = {}
    most: dict[str, Fraction] = {}
    for container in spec.get("initContainers", ()):
        amounts = of(container)
        if container.get("restartPolicy") == "Always":
            add(total, amounts)
            add(sidecars, amounts)
            amounts = dict(sidecars)
        else:
            add(amounts, sidecars)
        for name, amount in amounts.items():
            most[name] = max(most.get(name, amount), amount)
    for name, amount in most.items():
        total[name] = max(total.get(name, Fraction(0)), amount)
    add(total, {name: quantity.parse(text) for name, text in spec.get("overhead", {}).items()})
    return {name: math.ceil(amount * (1000 if name == "cpu" else 1)) for name, amount in total.items()}


def add(total: dict[str, Fraction], more: dict[str, Fraction]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Fraction(0)) + amount


def allocatable(node: Object, name: str) -> int:
    text = node["status"]["allocatable"].get(name, "0")
    return math.ceil(quantity.parse(text) * (1000 if name == "cpu" else 1))


def used(world: World, node: str, name: str, defaults: bool = False) -> int:
    return sum(requests(pod, defaults).get(name, 0) for pod in world.on(node))


# -- filters: the reasons of a node, and whether evicting pods could help ---------------------------------------

Verdict = tuple[tuple[str, ...], bool]
OK: Verdict = ((), False)


def node_unschedulable(world: World, pod: Object, node: Object) -> Verdict:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    if node["spec"].get("unschedulable") and not tolerates(pod, taint):
        return ("node(s) were unschedulable",), False
    return OK


def taint_toleration(world: World, pod: Object, node: Object) -> Verdict:
    return (("node(s) had untolerated taint(s)",), False) if turned_away(pod, node) else OK


def node_affinity(world: World, pod: Object, node: Object) -> Verdict:
    if allowed_by_affinity(pod, node):
        return OK
    return ("node(s) didn't match Pod's node affinity/selector",), False


def ports(pod: Object) -> list[tuple[str, str, int]]:
    return [
        (port.get("hostIP") or "0.0.0.0", port.get("protocol", "TCP"), port["hostPort"])
        for container in pod["spec"]["containers"]
        for port in container.get("ports", ())
        if port.get("hostPort")
    ]


def node_ports(world: World, pod: Object, node: Object) -> Verdict:
    for address, protocol, port in ports(pod):
        for other in world.on(node["metadata"]["name"]):
            for theirs in ports(other):
                same = address == theirs[0] or "0.0.0.0" in (address, theirs[0])
                if same and (protocol, port) == theirs[1:]:
                    return ("node(s) didn't have free ports for the requested pod ports",), True
    return OK


def node_resources_fit(world: World, pod: Object, node: Object) -> Verdict:
    name = node["metadata"]["name"]
    reasons, helpful = [], True
    if len(world.on(name)) + 1 > allocatable(node, "pods"):
        reasons.append("Too many pods")
    wanted = requests(pod)
    for resource in sorted(
        wanted, key=lambda name: (["cpu", "memory", "ephemeral-storage"] + [name]).index(name)
    ):
        amount = wanted[resource]
        there = allocatable(node, resource)
        if amount > 0 and amount > there - used(world, name, resource):
            reasons.append(f"Insufficient {resource}")
            helpful = helpful and amount <= there
    return (tuple(reasons), helpful) if reasons else OK


def spread_constraints(world: World, pod: Object, action: str) -> list[Object]:
    constraints = []
    for constraint in pod["spec"].get("topologySpreadConstraints", ()):
        if constraint["whenUnsatisfiable"] == action:
            selector = constraint.get("labelSelector")
            more = [
                {"key": key, "operator": "In", "values": [labels_of(pod)[key]]}
                for key in constraint.get("matchLabelKeys", ())
                if key in labels_of(pod)
            ]
            if more and selector is not None:
                selector = {**selector, "matchExpressions": [*selector.get("matchExpressions", ()), *more]}
            constraints.append({**constraint, "labelSelector": selector})
    if not pod["spec"].get("topologySpreadConstraints") and action == "ScheduleAnyway":
        merged: dict[str, str] = {}
        for service in world.services:
            wanted = service["spec"]["selector"]
            if service["metadata"]["namespace"] == pod["metadata"]["namespace"] and all(
                labels_of(pod).get(key) == value for key, value in wanted.items()
            ):
                merged |= wanted
        if merged:
            for key, skew in ((HOSTNAME, 3), ("topology.kubernetes.io/zone", 5)):
                constraints.append(
                    {"topologyKey": key, "maxSkew": skew, "labelSelector": {"matchLabels": merged}}
                )
    return constraints


def counted_by(world: World, pod: Object, constraint: Object, node: Object) -> int:
    selector = constraint.get("labelSelector")
    if selector is None or not (selector.get("matchLabels") or selector.get("matchExpressions")):
        return 0
    return sum(
        other["metadata"]["namespace"] == pod["metadata"]["namespace"]
        and "deletionTimestamp" not in other["metadata"]
        and selects(selector, labels_of(other))
        for other in world.on(node["metadata"]["name"])
    )


def includes(constraint: Object, pod: Object, node: Object) -> bool:
    if constraint.get("nodeAffinityPolicy", "Honor") == "Honor" and not allowed_by_affinity(pod, node):
        return False
    return not (constraint.get("nodeTaintsPolicy", "Ignore") == "Honor" and turned_away(pod, node))


def pod_topology_spread(world: World, pod: Object, node: Object) -> Verdict:
    reason = "node(s) didn't match pod topology spread constraints"
    constraints = spread_constraints(world, pod, "DoNotSchedule")
    keys = [constraint["topologyKey"] for constraint in constraints]
    for constraint in constraints:
        key = constraint["topologyKey"]
        if key not in labels_of(node):
            return (f"{reason} (missing required label)",), False
        counts: dict[str, int] = {}
        for other in world.nodes.values():
            if all(wanted in labels_of(other) for wanted in keys) and includes(constraint, pod, other):
                value = labels_of(other)[key]
                counts[value] = counts.get(value, 0) + counted_by(world, pod, constraint, other)
        least = min(counts.values()) if len(counts) >= (constraint.get("minDomains") or 1) else 0
        own = selects(constraint.get("labelSelector"), labels_of(pod))
        if counts.get(labels_of(node)[key], 0) + own - least > constraint["maxSkew"]:
            return (reason,), True
    return OK


def term_means(world: World, term: Object, owner: Object, pod: Object) -> bool:
    """Return whether an affinity term of one pod means another."""
    namespace, names = pod["metadata"]["namespace"], term.get("namespaces") or []
    selector = term.get("namespaceSelector")
    if not names and selector is None:
        names = [owner["metadata"]["namespace"]]
    if namespace not in names and not selects(selector, world.namespaces.get(namespace, {})):
        return False
    return selects(term.get("labelSelector"), labels_of(pod))


def terms(pod: Object, side: str, kind: str) -> list[Object]:
    return pod["spec"].get("affinity", {}).get(side, {}).get(kind, [])


def near(world: World, key: str, node: Object) -> list[Object]:
    """Return the pods on nodes with the same value of a label."""
    if key not in labels_of(node):
        return []
    value = labels_of(node)[key]
    return [
        pod
        for name, other in world.nodes.items()
        if labels_of(other).get(key) == value
        for pod in world.on(name)
    ]


def inter_pod_affinity(world: World, pod: Object, node: Object) -> Verdict:
    wanted = terms(pod, "podAffinity", REQUIRED)
    if wanted:

        def means(other: Object) -> bool:
            return all(term_means(world, term, pod, other) for term in wanted)

        has_all = all(term["topologyKey"] in labels_of(node) for term in wanted)
        close = has_all and all(any(map(means, near(world, term["topologyKey"], node))) for term in wanted)
        anywhere = any(
            means(other)
            for name, at in world.nodes.items()
            if any(term["topologyKey"] in labels_of(at) for term in wanted)
            for other in world.on(name)
        )
        if not (close or (has_all and not anywhere and means(pod))):
            return ("node(s) didn't match pod affinity rules",), False
    for term in terms(pod, "podAntiAffinity", REQUIRED):
        if any(term_means(world, term, pod, other) for other in near(world, term["topologyKey"], node)):
            return ("node(s) didn't match pod anti-affinity rules",), True
    for other_node in world.nodes.values():
        for other in world.on(other_node["metadata"]["name"]):
            for term in terms(other, "podAntiAffinity", REQUIRED):
                key = term["topologyKey"]
                mine, theirs = labels_of(node).get(key), labels_of(other_node).get(key)
                if mine is not None and mine == theirs and term_means(world, term, other, pod):
                    return ("node(s) didn't satisfy existing pods anti-affinity rules",), True
    return OK


FILTERS = {
    "NodeUnschedulable": node_unschedulable,
    "TaintToleration": taint_toleration,
    "NodeAffinity": node_affinity,
    "NodePorts": node_ports,
    "NodeResourcesFit": node_resources_fit,
    "PodTopologySpread": pod_topology_spread,
    "InterPodAffinity": inter_pod_affinity,
}


def verdict(world: World, pod: Object, node: Object) -> tuple[str, Verdict]:
    """Return the first plugin that turns a node down, and why."""
    for name, rule in FILTERS.items():
        reasons = rule(world, pod, node)
        if reasons[0]:
            return name, reasons
    return "", OK


# -- scores: of the nodes that are left, by name ---------------------------------------------------------------

Scores = dict[str, int]


def shares(scores: Scores, reverse: bool) -> Scores:
    best = max(scores.values(), default=0)
    if best == 0:
        return dict.fromkeys(scores, 100 if reverse else 0)
    return {
        name: 100 - 100 * score // best if reverse else 100 * score // best for name, score in scores.items()
    }


def score_taints(world: World, pod: Object, nodes: list[str]) -> Scores:
    return shares(
        {
            name: sum(
                taint["effect"] == "PreferNoSchedule" and not tolerates(pod, taint, ("", "PreferNoSchedule"))
                for taint in world.nodes[name]["spec"].get("taints", ())
            )
            for name in nodes
        },
        reverse=True,
    )


def score_node_affinity(world: World, pod: Object, nodes: list[str]) -> Scores:
    wanted = pod["spec"].get("affinity", {}).get("nodeAffinity", {}).get(PREFERRED, [])
    scores = {
        name: sum(
            preference["weight"]
            for preference in wanted
            if node_term(preference["preference"], world.nodes[name])
        )
        for name in nodes
    }
    return shares(scores, reverse=False)


def score_least_allocated(world: World, pod: Object, nodes: list[str]) -> Scores:
    scores = {}
    for name in nodes:
        parts = []
        for resource in ("cpu", "memory"):
            there = allocatable(world.nodes[name], resource)
            if there:
                busy = used(world, name, resource, defaults=True) + requests(pod, defaults=True)[resource]
                parts.append(0 if busy > there else (there - busy) * 100 // there)
        scores[name] = sum(parts) // len(parts) if parts else 0
    return scores


def score_balanced(world: World, pod: Object, nodes: list[str]) -> Scores:
    wanted = requests(pod)
    if not wanted.get("cpu") and not wanted.get("memory"):
        return dict.fromkeys(nodes, 0)

    def balance(parts: list[float]) -> int:
        deviation = abs((parts[0] - parts[1]) / 2) if len(parts) == 2 else 0.0
        return int((1 - deviation) * 100)

    scores = {}
    for name in nodes:
        before, after = [], []
        for resource in ("cpu", "memory"):
            there = allocatable(world.nodes[name], resource)
            if there:
                busy = used(world, name, resource)
                before.append(min(busy / there, 1.0))
                after.append(min((busy + wanted.get(resource, 0)) / there, 1.0))
        scores[name] = 50 + int((50 + balance(after) - balance(before)) / 2)
    return scores


def score_spread(world: World, pod: Object, nodes: list[str]) -> Scores:
    constraints = spread_constraints(world, pod, "ScheduleAnyway")
    if not constraints:
        return dict.fromkeys(nodes, 0)
    strict = bool(pod["spec"].get("topologySpreadConstraints"))
    keys = [constraint["topologyKey"] for constraint in constraints]
    ignored = {
        name for name in nodes if strict and any(key not in labels_of(world.nodes[name]) for key in keys)
    }
    raw = dict.fromkeys(nodes, 0.0)
    for constraint in constraints:
        key = constraint["topologyKey"]
        values = {labels_of(world.nodes[name]).get(key, "") for name in nodes if name not in ignored}
        size = len(nodes) - len(ignored) if key == HOSTNAME else len(values)
        sums = dict.fromkeys(values, 0)
        for other in world.nodes.values():
            if strict and any(wanted not in labels_of(other) for wanted in keys):
                continue
            value = labels_of(other).get(key, "")
            if value in sums and includes(constraint, pod, other):
                sums[value] += counted_by(world, pod, constraint, other)
        for name in nodes:
            node = world.nodes[name]
            if name not in ignored and key in labels_of(node):
                count = (
                    counted_by(world, pod, constraint, node)
                    if key == HOSTNAME
                    else sums[labels_of(node)[key]]
                )
                raw[name] += count * math.log(size + 2) + (constraint["maxSkew"] - 1)
    rounded = {name: math.floor(score + 0.5) for name, score in raw.items() if name not in ignored}
    most, least = max(rounded.values(), default=0), min(rounded.values(), default=0)
    if most == 0:
        return {name: 0 if name in ignored else 100 for name in nodes}
    return {name: 0 if name in ignored else 100 * (most + least - rounded[name]) // most for name in nodes}


def score_affinity(world: World, pod: Object, nodes: list[str]) -> Scores:
    raw = dict.fromkeys(nodes, 0)

    def reward(term: Object, weight: int, at: Object) -> None:
        key = term["topologyKey"]
        value = labels_of(at).get(key)
        for name in nodes:
            if value is not None and labels_of(world.nodes[name]).get(key) == value:
                raw[name] += weight

    for node in world.nodes.values():
        for other in world.on(node["metadata"]["name"]):
            for sign, side in ((1, "podAffinity"), (-1, "podAntiAffinity")):
                for weighted in terms(pod, side, PREFERRED):
                    if term_means(world, weighted["podAffinityTerm"], pod, other):
                        reward(weighted["podAffinityTerm"], sign * weighted["weight"], node)
                for weighted in terms(other, side, PREFERRED):
                    if term_means(world, weighted["podAffinityTerm"], other, pod):
                        reward(weighted["podAffinityTerm"], sign * weighted["weight"], node)
            for term in terms(other, "podAffinity", REQUIRED):
                if term_means(world, term, other, pod):
                    reward(term, 1, node)
    least, most = min(raw.values()), max(raw.values())
    if most == least:
        return dict.fromkeys(nodes, 0)
    return {name: int(100 * ((score - least) / (most - least))) for name, score in raw.items()}


def score_images(world: World, pod: Object, nodes: list[str]) -> Scores:
    names = [
        container["image"] for container in pod["spec"].get("initContainers", []) + pod["spec"]["containers"]
    ]
    names = [name if name.rfind(":") > name.rfind("/") else f"{name}:latest" for name in names]

    def size(node: Object, image: str) -> int | None:
        for stored in node["status"].get("images", ()):
            if image in stored["names"]:
                return stored["sizeBytes"]
        return None

    scores = {}
    for name in nodes:
        total = 0
        for image in names:
            here = size(world.nodes[name], image)
            if here is not None:
                holders = sum(size(other, image) is not None for other in world.nodes.values())
                total += int(here * (holders / len(world.nodes)))
        low, high = 23 * 2**20, 1000 * 2**20 * len(names)
        scores[name] = 100 * (min(max(total, low), high) - low) // (high - low)
    return scores


SCORES = {
    "TaintToleration": (score_taints, 3),
    "NodeAffinity": (score_node_affinity, 2),
    "NodeResourcesFit": (score_least_allocated, 1),
    "PodTopologySpread": (score_spread, 2),
    "InterPodAffinity": (score_affinity, 2),
    "NodeResourcesBalancedAllocation": (score_balanced, 1),
    "ImageLocality": (score_images, 1),
}
