from typing import Any

import pytest

from pybernetes.api.core.service.service import RESOURCE
from pybernetes.api.resource import Object
from tests.api.writes import create, row_by_name, update, update_status

PORTS = [{"port": 80}]


def made(**spec: Any) -> Object:
    return create(RESOURCE, {"spec": {"ports": PORTS, **spec}})[0]


def stored(**spec: Any) -> Object:
    """Return a service as it is after its addresses were given."""
    addresses = {
        "clusterIP": "10.0.0.9",
        "clusterIPs": ["10.0.0.9"],
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
    }
    return made(**{**addresses, **spec})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
              "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}]}),
        ({"type": "NodePort"}, {"externalTrafficPolicy": "Cluster", "internalTrafficPolicy": "Cluster"}),
        ({"type": "LoadBalancer"}, {"externalTrafficPolicy": "Cluster", "allocateLoadBalancerNodePorts": True}),
        ({"externalIPs": ["1.2.3.4"]}, {"externalTrafficPolicy": "Cluster"}),
        ({"type": "ExternalName", "internalTrafficPolicy": "Cluster"},
         {"internalTrafficPolicy": None, "externalTrafficPolicy": None}),
        ({"sessionAffinity": "ClientIP"}, {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}}),
        ({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}}, {"sessionAffinityConfig": None}),
        ({"clusterIP": "10.0.0.9"}, {"clusterIPs": ["10.0.0.9"]}),
        ({"ports": [{"port": 53, "protocol": "UDP", "targetPort": "dns"}]},
         {"ports": [{"port": 53, "protocol": "UDP", "targetPort": "dns"}]}),
    ],
)  # fmt: skip
def test_defaults(given: Object, expected: Object) -> None:
    spec = made(**given)["spec"]
    assert {key: spec.get(key) for key in expected} == expected


def test_a_new_service_has_an_empty_status() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    assert create(RESOURCE, {"spec": {"ports": PORTS}, "status": status})[0]["status"] == {"loadBalancer": {}}


NAME_RULE = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"ports": []}, ["spec.ports: Required value"]),
        ({"type": "X"}, ['spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"']),
        ({"ports": [{"port": 0}]},
         ["spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
          "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive"]),
        ({"ports": [{"port": 1, "protocol": "X"}]},
         ['spec.ports[0].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"']),
        ({"ports": [{"port": 1, "name": "A"}]}, [f'spec.ports[0].name: Invalid value: "A": {NAME_RULE}']),
        ({"ports": [{"port": 1, "name": "a"}, {"port": 2, "name": "a"}]}, ['spec.ports[1].name: Duplicate value: "a"']),
        ({"ports": [{"port": 1}, {"port": 1}]},
         ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value",
          'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}']),
        ({"ports": [{"port": 1, "nodePort": 30000}]},
         ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"]),
        ({"sessionAffinity": "X"}, ['spec.sessionAffinity: Unsupported value: "X": supported values: "ClientIP", "None"']),
        ({"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}},
         ["spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400"]),
        ({"externalIPs": ["127.0.0.1"]},
         ['spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)']),
        ({"externalIPs": ["x"]},
         ['spec.externalIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']),
        ({"clusterIP": "None", "type": "NodePort"},
         ['spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services']),
        ({"type": "ExternalName"}, ["spec.externalName: Required value"]),
        ({"type": "ExternalName", "externalName": "a", "clusterIP": "10.0.0.1"},
         ["spec.clusterIPs: Forbidden: may not be set for ExternalName services"]),
        ({"loadBalancerSourceRanges": ["10.0.0.0/8"]},
         ["spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'"]),
        ({"type": "LoadBalancer", "loadBalancerSourceRanges": [" 10.0.0.0/8", "10.0.0.1/8"]},
         ['spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond the prefix length']),
        ({"loadBalancerClass": "x"}, ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"]),
        ({"allocateLoadBalancerNodePorts": True},
         ["spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'"]),
        ({"externalTrafficPolicy": "Local"},
         ['spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services']),
        ({"healthCheckNodePort": 30000},
         ["spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' "
          "and `externalTrafficPolicy` is 'Local'"]),
        ({"internalTrafficPolicy": "X"},
         ['spec.internalTrafficPolicy: Unsupported value: "X": supported values: "Cluster", "Local"']),
        ({"trafficDistribution": "X"},
         ['spec.trafficDistribution: Unsupported value: "X": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"']),
        ({"ipFamilyPolicy": "X"},
         ['spec.ipFamilyPolicy: Unsupported value: "X": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"']),
        ({"ipFamilies": ["IPv4", "IPv4"]}, ['spec.ipFamilies[1]: Duplicate value: "IPv4"']),
        ({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.2"]},
         ['spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`']),
        ({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1", "10.0.0.2"]},
         ['spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more than one IP for each IP family']),
        ({"clusterIP": "None", "clusterIPs": ["None", "10.0.0.1"]},
         ['spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only value']),
    ],
)  # fmt: skip
def test_refused(spec: Object, expected: list[str]) -> None:
    assert create(RESOURCE, {"spec": {"ports": PORTS, **spec}})[1] == expected


@pytest.mark.parametrize(
    "spec", [{}, {"clusterIP": "None"}, {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}]
)
def test_accepted(spec: Object) -> None:
    assert create(RESOURCE, {"spec": {"ports": PORTS, **spec}})[1] == []


def test_headless_needs_no_ports() -> None:
    assert create(RESOURCE, {"spec": {"clusterIP": "None"}})[1] == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"spec.clusterIP": None, "spec.clusterIPs": None}, []),
        ({"spec.clusterIP": "10.0.0.8"}, ['spec.clusterIPs[0]: Invalid value: ["10.0.0.8"]: may not change once set']),
        ({"spec.ipFamilies": ["IPv6"]},
         ['spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
          'spec.clusterIPs[0]: Invalid value: "10.0.0.9": expected an IPv6 value as indicated by `ipFamilies[0]`']),
        ({"spec.type": "ExternalName", "spec.externalName": "a"}, []),
        ({"spec.selector": {"a": "b"}}, []),
    ],
)  # fmt: skip
def test_updates(changes: Object, expected: list[str]) -> None:
    assert update(RESOURCE, stored(), changes)[1] == expected


def test_an_update_without_allocated_values_keeps_them() -> None:
    ports = [{"name": "a", "port": 80, "nodePort": 30001}, {"name": "b", "port": 81, "nodePort": 30002}]
    old = stored(type="NodePort", ports=ports)
    sent = [{"name": "b", "port": 81}, {"name": "c", "port": 82}]
    new = update(
        RESOURCE,
        old,
        {"spec.ports": sent, "spec.clusterIP": None, "spec.clusterIPs": None, "spec.ipFamilies": None},
    )[0]
    assert [port.get("nodePort") for port in new["spec"]["ports"]] == [30002, None]
    assert new["spec"]["clusterIPs"] == ["10.0.0.9"] and new["spec"]["ipFamilies"] == ["IPv4"]


def test_a_change_of_type_drops_what_no_longer_applies() -> None:
    old = stored(type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=30003, loadBalancerClass="a/b",
                 ports=[{"port": 80, "nodePort": 30001}])  # fmt: skip
    old["status"] = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    new, errors = update(RESOURCE, old, {"spec.type": "ClusterIP"})
    assert errors == []
    gone = (
        "healthCheckNodePort",
        "externalTrafficPolicy",
        "allocateLoadBalancerNodePorts",
        "loadBalancerClass",
    )
    assert not set(gone) & new["spec"].keys()
    assert "nodePort" not in new["spec"]["ports"][0]
    assert new["status"] == {"loadBalancer": {}} and old["status"]["loadBalancer"] != {}


def test_what_is_changed_together_with_the_type_is_refused() -> None:
    old = stored(type="LoadBalancer", loadBalancerClass="a/b")
    errors = update(RESOURCE, old, {"spec.type": "ClusterIP", "spec.loadBalancerClass": "c/d"})[1]
    assert errors == ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"]


@pytest.mark.parametrize(
    ("type_", "entry", "expected"),
    [
        ("ClusterIP", {"ip": "1.2.3.4"},
         ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]),
        ("LoadBalancer", {"ip": "1.2.3.4"}, []),
        ("LoadBalancer", {"ip": "1.2.3.4", "ipMode": "X"},
         ['status.loadBalancer.ingress[0].ipMode: Unsupported value: "X": supported values: "Proxy", "VIP"']),
        ("LoadBalancer", {"hostname": "1.2.3.4"},
         ['status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address']),
        ("LoadBalancer", {"hostname": "a", "ipMode": "VIP"},
         ["status.loadBalancer.ingress[0].ipMode: Forbidden: may not be specified when `ip` is not set"]),
    ],
)  # fmt: skip
def test_status_updates(type_: str, entry: dict[str, str], expected: list[str]) -> None:
    assert update_status(RESOURCE, stored(type=type_), {"loadBalancer": {"ingress": [entry]}})[1] == expected


@pytest.mark.parametrize(
    ("spec", "status", "expected"),
    [
        ({}, {}, {"Type": "ClusterIP", "Cluster-IP": "10.0.0.9", "External-IP": "<none>", "Port(s)": "80/TCP", "Selector": "<none>"}),
        ({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000}], "selector": {"b": "2", "a": "1"}}, {},
         {"Port(s)": "80:30000/TCP", "External-IP": "<none>", "Selector": "a=1,b=2"}),
        ({"type": "LoadBalancer"}, {}, {"External-IP": "<pending>"}),
        ({"type": "LoadBalancer", "externalIPs": ["9.9.9.9"]}, {"ingress": [{"ip": "1.2.3.4"}, {"hostname": "a"}]},
         {"External-IP": "1.2.3.4,a,9.9.9.9"}),
        ({"type": "ExternalName", "externalName": "a.b", "clusterIP": "", "clusterIPs": [], "ports": []}, {},
         {"Cluster-IP": "<none>", "External-IP": "a.b", "Port(s)": "<none>"}),
        ({"clusterIP": "None", "clusterIPs": ["None"]}, {}, {"Cluster-IP": "None"}),
    ],
)  # fmt: skip
def test_columns(spec: Object, status: Object, expected: Object) -> None:
    obj = {**stored(**spec), "status": {"loadBalancer": status}}
    shown = row_by_name(RESOURCE, obj)
    assert {key: shown[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"externalIPs": ["1.2.3.4"]}, ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"]),
        ({"externalName": "x"}, ['spec.externalName is ignored when spec.type is not "ExternalName"']),
        ({"trafficDistribution": "PreferClose"},
         ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']),
    ],
)  # fmt: skip
def test_warnings(spec: Object, expected: list[str]) -> None:
    assert RESOURCE.warnings is not None
    assert RESOURCE.warnings(made(**spec), None) == expected
