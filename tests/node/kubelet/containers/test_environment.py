"""The environment variables of containers."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from pybernetes.node.kubelet.containers.environment import EnvironmentInputs, environment
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.containers.expansion import TooLong
from tests.node.kubelet.pods import pod

SERVICE = {
    "metadata": {"name": "web-1", "namespace": "n"},
    "spec": {"clusterIP": "10.0.0.9", "ports": [{"name": "http", "port": 80}, {"name": "x", "port": 9, "protocol": "UDP"}]},
}  # fmt: skip


def inputs(**more: Any) -> EnvironmentInputs:
    maps = {"cm": {"data": {"k": "v"}}}
    secrets = {"s": {"data": {"pw": base64.b64encode(b"x").decode()}}}
    return EnvironmentInputs(maps.get, secrets.get, addresses=("1.2.3.4",), host=("9.9.9.9",), **more)


def test_environment() -> None:
    container = {
        "envFrom": [{"configMapRef": {"name": "cm"}, "prefix": "P_"}, {"secretRef": {"name": "none", "optional": True}}],
        "env": [
            {"name": "A", "value": "$(P_k)/$(WEB_1_SERVICE_HOST)"},
            {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "L", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}},
            {"name": "S", "valueFrom": {"secretKeyRef": {"name": "s", "key": "pw"}}},
            {"name": "O", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": "no", "optional": True}}},
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
        ],
    }  # fmt: skip
    definition = pod(container)
    variables = environment(
        definition,
        definition["spec"]["containers"][0],
        inputs(services=[SERVICE], allocatable={"cpu": "2"}),
    )
    assert {key: variables[key] for key in ("P_k", "A", "IP", "L", "S", "CPU")} == {
        "P_k": "v", "A": "v/10.0.0.9", "IP": "1.2.3.4", "L": "b", "S": "x", "CPU": "2000",
    }  # fmt: skip
    assert "O" not in variables
    assert (
        variables["WEB_1_SERVICE_PORT_HTTP"] == "80" and variables["WEB_1_PORT_9_UDP"] == "udp://10.0.0.9:9"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"configMapKeyRef": {"name": "gone", "key": "k"}}, 'configmap "gone" not found'),
        ({"configMapKeyRef": {"name": "cm", "key": "gone"}}, "couldn't find key gone in ConfigMap n/cm"),
        ({"secretKeyRef": {"name": "s", "key": "gone"}}, "couldn't find key gone in Secret n/s"),
    ],
)
def test_what_is_missing_is_named(source: dict[str, Any], message: str) -> None:
    definition = pod({"env": [{"name": "A", "valueFrom": source}]})
    with pytest.raises(ConfigError, match=message):
        environment(definition, definition["spec"]["containers"][0], inputs())


def test_who_wants_no_links_to_services_gets_those_to_the_api_alone() -> None:
    definition = pod(enableServiceLinks=False)
    api = {"metadata": {"name": "kubernetes", "namespace": "default"}, "spec": SERVICE["spec"]}
    variables = environment(definition, definition["spec"]["containers"][0], inputs(services=[SERVICE, api]))
    assert "WEB_1_SERVICE_HOST" not in variables and "KUBERNETES_SERVICE_HOST" in variables


@pytest.mark.parametrize(
    "container",
    [
        {"env": [{"name": "A0", "value": "x" * 100},
                 *({"name": f"A{n}", "value": f"$(A{n - 1})" * 10} for n in range(1, 12))]},
        {"env": [{"name": "A", "value": "x" * 100_000}, *({"name": f"B{n}", "value": "$(A)"} for n in range(10_000))]},
        {"env": [{"name": f"A{n}", "valueFrom": {"configMapKeyRef": {"name": "long", "key": "k"}}} for n in range(10_000)]},
        {"envFrom": [{"prefix": f"P{n}_", "configMapRef": {"name": "long"}} for n in range(10_000)]},
    ],
)  # fmt: skip
def test_variables_that_no_program_can_have_are_not_made(container: dict[str, Any]) -> None:
    """A few lines of a pod would take all of the kubelet's memory."""
    definition = pod(container)
    sources = EnvironmentInputs(lambda name: {"data": {"k": "x" * 500_000}}, lambda name: None)
    with pytest.raises(TooLong):
        environment(definition, definition["spec"]["containers"][0], sources)
