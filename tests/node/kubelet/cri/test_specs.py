"""The configurations of sandboxes and containers, as the runtime is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cri_api.v1 import api_pb2 as messages

from pybernetes.node.kubelet.containers.resolv_conf import ClusterDns, ResolvConf
from pybernetes.node.kubelet.cri import specs
from pybernetes.node.kubelet.node_settings import NodeSettings
from tests.node.kubelet.pods import pod

SETTINGS = NodeSettings(Path("/root"), Path("/logs"), ClusterDns((), "cluster.local", ResolvConf()))
PORTS = [
    {"containerPort": 80, "hostPort": 8080, "hostIP": "127.0.0.1"},
    {"containerPort": 53, "protocol": "UDP"},
]


def _sandbox(made: Any, **more: Any) -> Any:
    return specs.sandbox_config(made, 0, "/pod", SETTINGS, ResolvConf(), **more)


def test_ports_of_the_node_and_kernel_settings_of_a_pod() -> None:
    sysctls = [{"name": "net/ipv4/conf/eth0.1/x", "value": "1"}, {"name": "net.core.somaxconn", "value": "2"}]
    config = _sandbox(pod({"ports": PORTS}, securityContext={"sysctls": sysctls}))
    mapped = [
        (port.container_port, port.host_port, port.host_ip, port.protocol) for port in config.port_mappings
    ]
    assert mapped == [(80, 8080, "127.0.0.1", messages.TCP), (53, 0, "", messages.UDP)]
    assert dict(config.linux.sysctls) == {"net.ipv4.conf.eth0/1.x": "1", "net.core.somaxconn": "2"}
    # On the node's own network a port is the node's already.
    assert not _sandbox(pod({"ports": PORTS}, hostNetwork=True)).port_mappings


def test_users_of_a_pods_own_are_those_of_its_containers_and_files() -> None:
    mapping = messages.IDMapping(container_id=0, host_id=65536, length=65536)
    users = messages.UserNamespace(mode=messages.POD, uids=[mapping], gids=[mapping])
    made = pod(hostUsers=False)
    for expected in (users, None):
        sandbox = _sandbox(made, users=users) if expected else _sandbox(made)
        mount = messages.Mount(container_path="/v", host_path="/x")
        config = specs.container_config(
            made, made["spec"]["containers"][0], 0, messages.Image(), {}, [mount], SETTINGS, sandbox
        )
        options = config.linux.security_context.namespace_options.userns_options
        assert options == (expected or messages.UserNamespace(mode=messages.NODE))
        assert list(config.mounts[0].uidMappings) == ([mapping] if expected else [])
        assert list(config.mounts[0].gidMappings) == ([mapping] if expected else [])
