"""Small clusters made at random: few labels and ports, so that policies meet pods often."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Object = dict[str, Any]
NAMES = ("x", "y", "z")
KEYS, VALUES = ("app", "tier"), ("a", "b")
PORTS = (80, 81, 82, 443)
OUTSIDE = ("192.0.2.1", "192.0.2.200", "2001:db8::1")
_BLOCKS = ("0.0.0.0/0", "10.0.0.0/28", "192.0.2.0/24", "10.0.0.3/32", "::/0", "fd00::/124", "2001:db8::/32")
_EXCEPTIONS = {
    "0.0.0.0/0": ("10.0.0.0/29", "10.0.0.4/30", "192.0.2.128/25"),
    "10.0.0.0/28": ("10.0.0.2/31", "10.0.0.0/30"),
    "192.0.2.0/24": ("192.0.2.128/25",),
    "::/0": ("fd00::/125",),
}

labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=2)
_expression = st.one_of(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from(KEYS),
            "operator": st.sampled_from(("In", "NotIn")),
            "values": st.lists(st.sampled_from(VALUES), min_size=1, max_size=2, unique=True),
        }
    ),
    st.fixed_dictionaries(
        {"key": st.sampled_from(KEYS), "operator": st.sampled_from(("Exists", "DoesNotExist"))}
    ),
)
selectors = st.one_of(
    st.just({}),
    st.builds(lambda value: {"matchLabels": value}, labels),
    st.builds(lambda value: {"matchExpressions": [value]}, _expression),
)
protocols = st.sampled_from(("TCP", "UDP", "SCTP"))


@st.composite
def _block(draw: Any) -> Object:
    cidr = draw(st.sampled_from(_BLOCKS))
    exceptions = draw(st.lists(st.sampled_from(_EXCEPTIONS.get(cidr, ("",))), max_size=2, unique=True))
    return {"ipBlock": {"cidr": cidr, "except": [text for text in exceptions if text]}}


peers = st.one_of(
    st.builds(lambda pods: {"podSelector": pods}, selectors),
    st.builds(lambda spaces: {"namespaceSelector": spaces}, selectors),
    st.builds(lambda spaces, pods: {"namespaceSelector": spaces, "podSelector": pods}, selectors, selectors),
    _block(),
)


@st.composite
def _port(draw: Any) -> Object:
    entry: Object = {"protocol": draw(protocols)}
    kind = draw(st.integers(0, 3))
    if kind == 1:
        entry["port"] = draw(st.sampled_from(PORTS))
    elif kind == 2:
        entry |= {"port": draw(st.sampled_from(PORTS[:2])), "endPort": draw(st.sampled_from(PORTS[1:]))}
        entry["endPort"] = max(entry["endPort"], entry["port"])
    elif kind == 3:
        entry["port"] = draw(st.sampled_from(("web", "dns")))
    return entry


def _rules(word: str) -> st.SearchStrategy[list[Object]]:
    rule = st.builds(
        lambda some, ports: {key: value for key, value in ((word, some), ("ports", ports)) if value},
        st.lists(peers, max_size=2),
        st.lists(_port(), max_size=2),
    )
    return st.lists(rule, max_size=3)


@st.composite
def policies(draw: Any) -> Object:
    """A NetworkPolicy."""
    types = draw(st.sampled_from((["Ingress"], ["Egress"], ["Ingress", "Egress"])))
    return {
        "metadata": {"namespace": draw(st.sampled_from(NAMES)), "name": draw(st.sampled_from("pqr"))},
        "spec": {
            "podSelector": draw(selectors),
            "policyTypes": types,
            "ingress": draw(_rules("from")),
            "egress": draw(_rules("to")),
        },
    }


_selected = st.one_of(
    st.builds(lambda spaces: {"namespaces": spaces}, selectors),
    st.builds(
        lambda spaces, pods: {"pods": {"namespaceSelector": spaces, "podSelector": pods}},
        selectors,
        selectors,
    ),
)
_cluster_port = st.one_of(
    st.builds(
        lambda protocol, number: {protocol.lower(): {"destinationPort": {"number": number}}},
        protocols,
        st.sampled_from(PORTS),
    ),
    st.builds(
        lambda protocol: {protocol.lower(): {"destinationPort": {"range": {"start": 80, "end": 81}}}},
        protocols,
    ),
    st.builds(lambda name: {"destinationNamedPort": name}, st.sampled_from(("web", "dns"))),
)


def _cluster_rules(word: str) -> st.SearchStrategy[list[Object]]:
    networks = st.builds(
        lambda some: {"networks": some},
        st.lists(st.sampled_from(_BLOCKS), min_size=1, max_size=2, unique=True),
    )
    peer = st.one_of(_selected, networks) if word == "to" else _selected
    rule = st.builds(
        lambda action, some, ports: {"action": action, word: some} | ({"protocols": ports} if ports else {}),
        st.sampled_from(("Accept", "Deny", "Pass")),
        st.lists(peer, min_size=1, max_size=2),
        st.lists(_cluster_port, max_size=2),
    )
    return st.lists(rule, max_size=2)


@st.composite
def cluster_policies(draw: Any) -> Object:
    """A ClusterNetworkPolicy."""
    return {
        "metadata": {"name": draw(st.sampled_from("pqr"))},
        "spec": {
            "tier": draw(st.sampled_from(("Admin", "Baseline"))),
            "priority": draw(st.integers(0, 2)),
            "subject": draw(_selected),
            "ingress": draw(_cluster_rules("from")),
            "egress": draw(_cluster_rules("to")),
        },
    }


@st.composite
def pods(draw: Any, number: int | None = None) -> Object:
    """A Pod; its name decides its address, so that it may move, but two never share one."""
    if number is None:
        number = draw(st.integers(0, 5))
    ports = [
        {"name": draw(st.sampled_from(("web", "dns"))), "containerPort": 80, "protocol": draw(protocols)}
        for _ in range(draw(st.integers(0, 1)))
    ]
    return {
        "metadata": {
            "namespace": NAMES[number % 3],
            "name": f"pod{number}",
            "uid": str(number),
            "labels": draw(labels),
        },
        "spec": {
            "nodeName": draw(st.sampled_from(("here", "there"))),
            "hostNetwork": draw(st.sampled_from((False, False, False, True))),
            "containers": [{"name": "c", "ports": ports}],
        },
        "status": {
            "phase": draw(st.sampled_from(("Running", "Running", "Running", "Failed"))),
            "podIPs": [{"ip": f"10.0.0.{number + 1}"}, {"ip": f"fd00::{number + 1}"}],
        },
    }


def namespace(name: str) -> st.SearchStrategy[Object]:
    """A Namespace."""
    return st.builds(lambda value: {"metadata": {"name": name, "labels": value}}, labels)


namespaces = st.sampled_from(NAMES).flatmap(namespace)
_change = st.one_of(
    st.tuples(st.just("pod"), pods(), st.sampled_from((True, True, True, False))),
    st.tuples(st.just("namespace"), namespaces, st.sampled_from((True, True, True, False))),
    st.tuples(st.just("policy"), policies(), st.sampled_from((True, True, True, False))),
    st.tuples(st.just("cluster"), cluster_policies(), st.sampled_from((True, True, False))),
)


@st.composite
def histories(draw: Any) -> list[tuple[str, Object, bool]]:
    """What happens in a cluster: it gets pods and policies, and then this and that changes."""
    begin = [("namespace", draw(namespace(name)), True) for name in NAMES]
    begin += [("pod", draw(pods(number)), True) for number in range(6)]
    begin += [("policy", draw(policies()), True) for _ in range(draw(st.integers(0, 2)))]
    begin += [("cluster", draw(cluster_policies()), True) for _ in range(draw(st.integers(0, 2)))]
    return [*draw(st.permutations(begin)), *draw(st.lists(_change, max_size=5))]
