"""Machines that come to a cluster with several control planes later, and those that leave it."""

from __future__ import annotations

import asyncio
import contextlib

from pybernetes.node.containerd.requirements import check_programs
from pybernetes.tools.kubeadm import certificate_files, etcd_cluster, etcd_pod, shared_certificates, tokens
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import ADMIN
from pybernetes.tools.local import lifecycle as local
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.control_planes import (
    configuration,
    external_etcd,
    image_store,
    installation,
    machines,
    serving_certificates,
    topology,
)
from pybernetes.tools.local.network import network
from pybernetes.tools.local.nodes import node_registration
from pybernetes.tools.local.nodes.node import Node
from pybernetes.tools.local.paths import Cluster, ClusterError
from pybernetes.tools.local.settings import CONTROL_PLANE, NodeSettings, Settings, SettingsError

_ETCD_SECONDS = 20.0
_STATUS_SECONDS = 2.0


def add(cluster: Cluster, role: str = "") -> str:
    """Make a further machine and have it join: a worker, or a control plane; return its name."""
    if role not in ("", CONTROL_PLANE):
        raise SettingsError(f"a machine with the role {role!r} cannot be added")
    check_programs()
    with local.locked(cluster):
        settings = saved_settings.load(cluster)
        existing = _running(settings)
        node = saved_settings.new_node(cluster.name, settings.nodes, role=role)
        settings.nodes.append(node)
        settings.control_planes = len(topology.control_planes(settings))
        machines.prepare(cluster, settings, node, image_store.ensure())
        local.refresh(cluster, settings)
        installation.wait_for_runtimes(cluster, [node])
        invitation = _invite(cluster, settings, existing)
        _balance(cluster, settings)
        documents = configuration.joining(cluster.name, settings, node, invitation)
        machines.kubeadm(cluster, node.name, "join", documents=documents)
        serving_certificates.approve(cluster, settings)
        return node.name


def _running(settings: Settings) -> NodeSettings:
    for node in topology.control_planes(settings):
        if not (node.stopped or node.paused or node.apart):
            return node
    raise ClusterError("no control plane runs that could take a machine in")


def _invite(cluster: Cluster, settings: Settings, existing: NodeSettings) -> configuration.Invitation:
    """Have a control plane make a token and upload its certificates again: those of before have expired."""
    token, key = tokens.generate(), shared_certificates.new_key()
    _allow(cluster, existing.name, token)
    external = external_etcd.configuration(settings) if settings.etcd == "external" else None
    documents = configuration.initial(cluster.name, settings, existing, token, key, external)
    words = ("init", "phase", "upload-certs", "--upload-certs")
    machines.kubeadm(cluster, existing.name, *words, documents=documents)
    authority = (Node(cluster, existing.name).machine.own("/etc/kubernetes") / "pki" / "ca.crt").read_bytes()
    return configuration.Invitation(token, tuple(certificate_files.bundle_hashes(authority)), key)


def _allow(cluster: Cluster, name: str, token: str) -> None:
    """Have a control plane make a token; whoever calls may have a kubeconfig of another cluster in the usual places."""
    machines.kubeadm(cluster, name, "token", "create", token, "--ttl=1h", f"--kubeconfig={ADMIN}")


def _balance(cluster: Cluster, settings: Settings) -> None:
    """Tell every load balancer which machines there are now."""
    for node in topology.control_planes(settings):
        if not node.stopped:
            machines.give_load_balancer(cluster, settings, node)
            machines.reload_load_balancer(cluster, node.name)


def remove(cluster: Cluster, name: str) -> None:
    """Take a machine out for good, whether it runs or not: its member of etcd, its Node, and all that it made."""
    with local.locked(cluster):
        settings = saved_settings.load(cluster)
        node = settings.node(name)
        if node.role == saved_settings.ETCD:
            raise SettingsError(f"{name} has a member of an external etcd, whose machines cannot be changed")
        if node.role == CONTROL_PLANE and len(topology.control_planes(settings)) == 1:
            raise SettingsError(f"{name} is the only control plane")
        own = Node(cluster, name)
        if node.paused:
            own.machine.resume()
        address = network.node_addresses(settings, name)[0]
        settings.nodes.remove(node)
        if node.role == CONTROL_PLANE:
            if settings.etcd == "stacked":
                asyncio.run(_forget_member(cluster, settings, address))
            settings.control_planes = len(topology.control_planes(settings))
        local.refresh(cluster, settings)
        local.wait_for_end(cluster, f"containerd-{name}")
        own.remove()
        _balance(cluster, settings)
        with contextlib.suppress(OSError):
            node_registration.forget(cluster, name)


def member_states(cluster: Cluster, settings: Settings) -> dict[str, str]:
    """Return what the members of etcd say of themselves, by machine; nothing where API server and store are one."""
    with_members = {"stacked": topology.control_planes, "external": topology.etcd_machines}.get(settings.etcd)
    planes = topology.control_planes(settings)
    if with_members is None or not planes:
        return {}
    certificates = Node(cluster, planes[0].name).machine.own("/etc/kubernetes") / "pki"
    servers = {
        node.name: etcd_pod.client_url(network.node_addresses(settings, node.name)[0])
        for node in with_members(settings)
        if not (node.stopped or node.paused)
    }
    try:
        return asyncio.run(etcd_cluster.states(servers, certificates, _STATUS_SECONDS))
    except KubeadmError as error:
        return dict.fromkeys(servers, str(error))


async def _forget_member(cluster: Cluster, settings: Settings, address: str) -> None:
    others = [node for node in topology.control_planes(settings) if not node.stopped]
    servers = [etcd_pod.client_url(network.node_addresses(settings, node.name)[0]) for node in others]
    certificates = Node(cluster, _running(settings).name).machine.own("/etc/kubernetes") / "pki"
    try:
        async with etcd_cluster.members(servers, certificates, _ETCD_SECONDS) as members:
            for member in await members.listed():
                if etcd_pod.peer_url(address) in member.peer_urls:
                    await members.remove(member.id)
    except KubeadmError as error:
        raise ClusterError(str(error)) from None
