from typing import Any

import pytest

from pybernetes.api.networking import networkpolicy
from pybernetes.api.networking.networkpolicy import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create_errors, created, row

PORT, FROM = "spec.ingress[0].ports[0]", "spec.ingress[0].from[0]"


def port(**fields: Any) -> Object:
    return {"ingress": [{"ports": [fields]}]}


def peer(**fields: Any) -> Object:
    return {"ingress": [{"from": [fields]}]}


@pytest.mark.parametrize(
    ("spec", "types"),
    [({}, ["Ingress"]), ({"egress": [{}]}, ["Ingress", "Egress"]), ({"policyTypes": ["Egress"]}, ["Egress"])],
)
def test_policy_types(spec: Object, types: list[str]) -> None:
    obj = created(RESOURCE, {"spec": spec})
    assert (obj["spec"]["policyTypes"], obj["spec"]["podSelector"]) == (types, {})


def test_protocol() -> None:
    assert created(RESOURCE, {"spec": port(port=80)})["spec"]["ingress"][0]["ports"][0]["protocol"] == "TCP"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (port(port=0), [f"{PORT}.port: Invalid value: 0: must be between 1 and 65535, inclusive"]),
        (
            port(port=5, endPort=3),
            [f"{PORT}.endPort: Invalid value: 3: must be greater than or equal to `port`"],
        ),
        (
            port(port="web", endPort=3),
            [f"{PORT}.endPort: Invalid value: 3: may not be specified when `port` is non-numeric"],
        ),
        (
            port(endPort=3),
            [f"{PORT}.endPort: Invalid value: 3: may not be specified when `port` is not specified"],
        ),
        (
            port(protocol="X"),
            [f'{PORT}.protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"'],
        ),
        (peer(), [f"{FROM}: Required value: must specify a peer"]),
        (peer(podSelector={}, namespaceSelector={}), []),
        (
            peer(podSelector={}, ipBlock={"cidr": "10.0.0.0/8"}),
            [f"{FROM}: Forbidden: may not specify both ipBlock and another peer"],
        ),
        (peer(ipBlock={}), [f"{FROM}.ipBlock.cidr: Required value"]),
        (
            peer(ipBlock={"cidr": "10.1.0.0/8"}),
            [
                f'{FROM}.ipBlock.cidr: Invalid value: "10.1.0.0/8": must not have bits set beyond the prefix length'
            ],
        ),
        (
            peer(ipBlock={"cidr": "10.0.0.0/8", "except": ["10.0.0.0/8", "10.1.0.0/16", "11.0.0.0/16"]}),
            [
                f'{FROM}.ipBlock.except[0]: Invalid value: "10.0.0.0/8": must be a strict subset of `cidr`',
                f'{FROM}.ipBlock.except[2]: Invalid value: "11.0.0.0/16": must be a strict subset of `cidr`',
            ],
        ),
        (
            {"policyTypes": ["Ingress", "Both"]},
            ['spec.policyTypes[1]: Unsupported value: "Both": supported values: "Ingress", "Egress"'],
        ),
        (
            {"policyTypes": ["Ingress"] * 3},
            [
                'spec.policyTypes: Invalid value: ["Ingress","Ingress","Ingress"]: '
                "may not specify more than two policyTypes"
            ],
        ),
    ],
)
def test_create(spec: Object, expected: list[str]) -> None:
    assert create_errors(RESOURCE, {"spec": spec}) == expected


def test_warnings() -> None:
    obj = created(RESOURCE, {"spec": peer(ipBlock={"cidr": "2001:DB8::/64"})})
    assert networkpolicy.warnings(obj, None) == [
        f'{FROM}.ipBlock.cidr: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")',
    ]


def test_columns() -> None:
    selector = {"matchLabels": {"b": "c"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}
    assert row(RESOURCE, {"spec": {"podSelector": selector}}) == ["name", "a,b=c"]
    assert row(RESOURCE, {"spec": {"podSelector": {}}}) == ["name", "<none>"]
