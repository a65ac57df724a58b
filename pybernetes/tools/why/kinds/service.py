"""Service: why nobody answers behind it: selector, pods, ports, policies."""

from __future__ import annotations

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.client.refs import ENDPOINT_SLICES, NETWORK_POLICIES, PODS, SERVICES
from pybernetes.tools.why.finding import Finding, link_of, listed
from pybernetes.tools.why.world import Need, Question, World, about, condition

_OF_SERVICE = "kubernetes.io/service-name"
_NEAREST = 3


def needs(service: Object) -> list[Need]:
    """Return what decides about a service: all pods of its namespace, since those count that are not selected."""
    namespace, name = service["metadata"]["namespace"], service["metadata"]["name"]
    return [
        about(service),
        Need(PODS, namespace),
        Need(ENDPOINT_SLICES, namespace, labels=f"{_OF_SERVICE}={name}"),
        Need(NETWORK_POLICIES, namespace),
    ]


def decide(service: Object, world: World) -> tuple[str, list[Finding]]:
    """Say how many endpoints a service has, and why not more."""
    meta, spec = service["metadata"], service["spec"]
    namespace = meta["namespace"]
    if spec.get("type") == "ExternalName":
        name = spec.get("externalName", "")
        return "a name", [
            Finding(f"It is another name of {name}, and has no endpoints of its own.", cause=False)
        ]
    ready = _ready(world.all(ENDPOINT_SLICES, namespace))
    state = "1 ready endpoint" if ready == 1 else f"{ready} ready endpoints"
    wanted = spec.get("selector") or {}
    if not wanted:
        text = "It has no selector: somebody else has to write its EndpointSlices."
        return state, [Finding(text, cause=not ready)]
    pods = [pod for pod in world.all(PODS, namespace) if not _is_over(pod)]
    selected = [pod for pod in pods if _matches(wanted, pod)]
    findings = _nobody(wanted, pods, world) if not selected else _pods(service, selected, ready)
    if selected:
        findings += _ports(service, selected)
        findings += _policies(selected, world)
    findings += _balancer(service, world)
    return state, findings


def _ready(slices: list[Object]) -> int:
    addresses = set()
    for item in slices:
        for endpoint in item.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready") is not False:
                addresses |= set(endpoint.get("addresses") or ())
    return len(addresses)


def _is_over(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _matches(wanted: dict[str, str], pod: Object) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in wanted.items())


def _nobody(wanted: dict[str, str], pods: list[Object], world: World) -> list[Finding]:
    """Say that no pod has the labels, and which come nearest."""
    if not world.is_known(PODS):
        return []
    text = ",".join(f"{key}={value}" for key, value in sorted(wanted.items()))
    near = []
    for pod in pods:
        labels = pod["metadata"].get("labels") or {}
        wrong = [key for key, value in wanted.items() if labels.get(key) != value]
        alike = [key for key in wrong if key in labels]
        if len(wrong) < len(wanted) or alike:
            near.append((len(wrong), pod["metadata"]["name"], pod, wrong))
    near.sort(key=lambda entry: entry[:2])
    details, links = [], []
    for _, name, pod, wrong in near[:_NEAREST]:
        labels = pod["metadata"].get("labels") or {}
        has = ", ".join(f"{key}={labels[key]}" if key in labels else f"no {key}" for key in wrong)
        details.append(f"Pod {name} is near, but has {has}.")
        links.append(link_of(PODS, pod))
    return [Finding(f"No pod has the labels {text} of its selector.", details, links)]


def _pods(service: Object, selected: list[Object], ready: int) -> list[Finding]:
    waiting = [pod for pod in selected if condition(pod, "Ready").get("status") != "True"]
    if not waiting or service["spec"].get("publishNotReadyAddresses"):
        return []
    names = listed(pod["metadata"]["name"] for pod in waiting)
    text = f"{len(waiting)} of its {len(selected)} pods are not ready: {names}."
    if len(waiting) == len(selected):
        text = f"None of its {len(selected)} pods is ready: {names}."
    first = waiting[0]["metadata"]
    command = f"pyb why pod/{first['name']} -n {first['namespace']}"
    links = [link_of(PODS, pod) for pod in waiting[:5]]
    return [Finding(text, [], links, command, cause=not ready)]


def _ports(service: Object, selected: list[Object]) -> list[Finding]:
    """Say which ports lead to nothing that the pods speak of."""
    findings = []
    for port in service["spec"].get("ports") or ():
        target = port.get("targetPort") or port["port"]
        named = isinstance(target, str)
        known = [pod for pod in selected if _has_port(pod, target, port.get("protocol") or "TCP")]
        if known or (not named and not any(_declares_ports(pod) for pod in selected)):
            continue
        title = port.get("name") or str(port["port"])
        links = [link_of(PODS, pod) for pod in selected[:3]]
        if named:
            text = f"Port {title} leads to a port named {target}, and no container has one."
            findings.append(Finding(text, links=links))
        else:
            text = f"Port {title} leads to {target}, and the containers speak of other ports only."
            findings.append(
                Finding(text, ["Whether something listens there only the pods know."], links, cause=False)
            )
    return findings


def _declares_ports(pod: Object) -> bool:
    return any(container.get("ports") for container in pod["spec"].get("containers") or ())


def _has_port(pod: Object, target: str | int, protocol: str) -> bool:
    for container in (*(pod["spec"].get("containers") or ()), *(pod["spec"].get("initContainers") or ())):
        for port in container.get("ports") or ():
            same = port.get("name") == target if isinstance(target, str) else port["containerPort"] == target
            if same and (port.get("protocol") or "TCP") == protocol:
                return True
    return False


def _policies(selected: list[Object], world: World) -> list[Finding]:
    """Say which policies decide who may come in."""
    policies = []
    for policy in world.all(NETWORK_POLICIES):
        spec = policy["spec"]
        if "Ingress" not in (spec.get("policyTypes") or ("Ingress",)):
            continue
        selector = selectors.from_object(spec.get("podSelector") or {})
        if any(selector.matches(pod["metadata"].get("labels") or {}) for pod in selected):
            policies.append(policy)
    if not policies:
        return []
    closed = all(not policy["spec"].get("ingress") for policy in policies)
    names = listed(policy["metadata"]["name"] for policy in policies)
    text = (
        f"The network policy {names} lets nobody in."
        if closed
        else f"The network policy {names} lets only some in."
    )
    return [Finding(text, links=[link_of(NETWORK_POLICIES, policy) for policy in policies[:5]], cause=closed)]


def _balancer(service: Object, world: World) -> list[Finding]:
    status = service.get("status") or {}
    if service["spec"].get("type") != "LoadBalancer" or (status.get("loadBalancer") or {}).get("ingress"):
        return []
    failed = world.message("SyncLoadBalancerFailed")
    text = "It has no address outside yet: a cloud controller has to give it one."
    return [Finding(text, [failed] if failed else [])]


WHY = Question(SERVICES, ("service", "services", "svc"), needs, decide)
