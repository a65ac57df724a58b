"""Whole configurations of a command: from a file or from flags, with what only this machine can tell."""

from __future__ import annotations

import ipaddress
import logging
import os
import re
import socket
from dataclasses import dataclass, field

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.tools.image.names import installed_etcd_tag
from pybernetes.tools.kubeadm import tokens
from pybernetes.tools.kubeadm.configuration import (
    component_configs,
    defaults,
    documents,
    networks,
    validation,
)
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import CONTROL_PLANE_LABEL, CRI_SOCKET, MAJOR, MINOR

log = logging.getLogger(__name__)
_SOCKETS = (
    "/var/run/containerd/containerd.sock",
    "/var/run/crio/crio.sock",
    "/var/run/cri-dockerd.sock",
)
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?\Z")
_LABEL = re.compile(r"(ci/|release/)?(stable|latest)(-\d+(\.\d+)?)?\Z")


@dataclass
class InitSettings:
    """All that ``init`` is told."""

    init: Object
    cluster: Object
    components: dict[str, Object] = field(default_factory=dict)


def init(documents_given: documents.Documents) -> InitSettings:
    """Return the configuration of ``init``, complete and checked."""
    settings = InitSettings(
        defaults.init(documents_given.own.get("InitConfiguration") or {}),
        defaults.cluster(documents_given.own.get("ClusterConfiguration") or {}),
    )
    for token in settings.init["bootstrapTokens"]:
        token["token"] = token.get("token") or tokens.generate()
    settings.init["nodeRegistration"] = registration(settings.init["nodeRegistration"], control_plane=True)
    settings.init["localAPIEndpoint"] = endpoint(settings.init["localAPIEndpoint"])
    complete_cluster(settings.cluster, settings.init["localAPIEndpoint"])
    validation.check(validation.init(settings.init, settings.cluster))
    settings.components = component_configs.completed(
        documents_given.components, settings.cluster, settings.init["localAPIEndpoint"]["advertiseAddress"]
    )
    return settings


def complete_cluster(cluster: Object, local_endpoint: Object) -> None:
    """Fill in what depends on this machine and on our version."""
    cluster["kubernetesVersion"] = release(cluster["kubernetesVersion"])
    given = cluster.get("controlPlaneEndpoint")
    if given:
        parsed = networks.host_port(given)
        if parsed is None:
            host, _, port = given.rpartition(":") if given.count(":") == 1 else (given, "", "")
            if port and not (port.isdigit() and 1 <= int(port) <= 65535):
                raise KubeadmError(
                    f"hostport {given}: port {port} must be a valid number between 1 and 65535, inclusive"
                )
            raise KubeadmError(
                f"hostport {given}: host '{host}' must be a valid IP address or a valid RFC-1123 DNS subdomain"
            )
        if parsed[1] is None:
            cluster["controlPlaneEndpoint"] = networks.joined(parsed[0], local_endpoint["bindPort"])
    if cluster["apiServer"].get("certSANs"):
        cluster["apiServer"] = {
            **cluster["apiServer"],
            "certSANs": [name.lower() for name in cluster["apiServer"]["certSANs"]],
        }
    local = cluster["etcd"].get("local")
    if local is not None and not local.get("imageTag"):
        # The image that we make is of this machine's etcd, and its tag tells the version. Those who join read it.
        tag = installed_etcd_tag()
        if tag:
            cluster["etcd"] = {**cluster["etcd"], "local": {**local, "imageTag": tag}}


def release(text: str) -> str:
    """Return the version that a version or a label (stable-1) means; KubeadmError if it is too old or none."""
    if _LABEL.match(text):
        return KUBERNETES_VERSION
    match = _VERSION.match(text)
    if match is None:
        raise KubeadmError(
            f'version "{text}" doesn\'t match patterns for neither semantic version nor labels (stable, latest, ...)'
        )
    version = text if text.startswith("v") else f"v{text}"
    if (int(match[1]), int(match[2])) < (MAJOR, MINOR - 1):
        raise KubeadmError(
            "this version of kubeadm only supports deploying clusters with the control plane version >= "
            f"{MAJOR}.{MINOR - 1}.0. Current version: {version}"
        )
    return version


def registration(given: Object, *, control_plane: bool) -> Object:
    """Return how a node registers, with its name and its container runtime."""
    result = {**given, "name": (given.get("name") or socket.gethostname()).strip().lower()}
    if control_plane and given.get("taints") is None:
        result["taints"] = [{"key": CONTROL_PLANE_LABEL, "effect": "NoSchedule"}]
    result["criSocket"] = cri_socket(given.get("criSocket", ""))
    return result


def cri_socket(given: str) -> str:
    """Return the address of the container runtime: the given one, or that of the only one here."""
    if given:
        if "://" not in given:
            log.warning(
                "Usage of CRI endpoints without URL scheme is deprecated and can cause kubelet errors in the future. "
                'Automatically prepending scheme "unix" to the "criSocket" with value "%s". Please update your configuration!',
                given,
            )
            return f"unix://{given}"
        return given
    present = [path for path in _SOCKETS if os.path.exists(path)]
    if len(present) > 1:
        listed = ", ".join(f"unix://{path}" for path in present)
        raise KubeadmError(
            "found multiple CRI endpoints on the host. Please define which one do you wish to use by setting the 'criSocket' "
            f"field in the kubeadm configuration file: {listed}"
        )
    return f"unix://{present[0]}" if present else CRI_SOCKET


def endpoint(given: Object) -> Object:
    """Return the address that an API server of this machine advertises."""
    address = given.get("advertiseAddress", "")
    if address:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            raise KubeadmError(
                f'couldn\'t use "{address}" as "apiserver-advertise-address", must be ipv4 or ipv6 address'
            ) from None
        if not parsed.is_unspecified and not parsed.is_loopback:
            return given
        if parsed.is_loopback:  # which means another machine to each of those that are told of it
            own = own_address()
            log.warning(
                'WARNING: overriding requested API server bind address: requested "%s", actual "%s"',
                address,
                own,
            )
            return {**given, "advertiseAddress": own}
    return {**given, "advertiseAddress": own_address()}


def own_address() -> str:
    """Return the address of this machine that the default route goes out from; nothing is sent."""
    for family, target in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((target, 9))
            except OSError:
                continue
            return str(probe.getsockname()[0])
    log.warning(
        "WARNING: could not obtain a bind address for the API Server: no default routes; using: 0.0.0.0"
    )
    return "0.0.0.0"


def join(given: Object) -> Object:
    """Return the configuration of ``join``, complete and checked."""
    result = defaults.join(given)
    control_plane = result.get("controlPlane")
    result["nodeRegistration"] = registration(
        result["nodeRegistration"], control_plane=control_plane is not None
    )
    if control_plane is not None:
        control_plane["localAPIEndpoint"] = endpoint(control_plane["localAPIEndpoint"])
    validation.check(validation.join(result))
    return result


def reset(given: Object) -> Object:
    """Return the configuration of ``reset``, complete and checked."""
    result = defaults.reset(given)
    result["criSocket"] = cri_socket(result.get("criSocket", ""))
    validation.check(validation.reset(result))
    return result


def upgrade(given: Object) -> Object:
    """Return the configuration of ``upgrade``, complete and checked."""
    result = defaults.upgrade(given)
    validation.check(validation.upgrade(result))
    return result
