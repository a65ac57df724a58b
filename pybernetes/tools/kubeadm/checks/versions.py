"""Checks of versions: of the control plane, the kubelet, the container runtime, and an etcd that others run."""

from __future__ import annotations

import asyncio
import json
import ssl

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import located
from pybernetes.lib.tls import tls
from pybernetes.tools.kubeadm import runtime
from pybernetes.tools.kubeadm.checks.check import Findings, problem
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.upgrade.policy import parse

KUBELET_SKEW = 3
# Debian's are older than what upstream asks for. The first three of 3.5 can corrupt what they keep.
LEAST_ETCD = (3, 4, 0)
_CORRUPTING = ((3, 5, 0), (3, 5, 1), (3, 5, 2))
_ETCD_TRIES, _ETCD_PAUSE, _ETCD_SECONDS = 3, 1.0, 10.0
_MOST_BYTES = 1 << 16


class KubernetesVersion:
    """Whether the control plane is not newer than we are."""

    name = "KubernetesVersion"

    def __init__(self, version: str) -> None:
        self._version = version

    async def check(self) -> Findings:
        """Warn of a version whose minor number is beyond ours."""
        try:
            wanted, own = parse(self._version), parse(KUBERNETES_VERSION)
        except KubeadmError as error:
            return problem(str(error))
        if wanted[:2] <= own[:2]:
            return Findings()
        return Findings(
            warnings=[
                "Kubernetes version is greater than kubeadm version. Please consider to upgrade kubeadm. Kubernetes version: "
                f"{self._version.lstrip('v')}. Kubeadm version: {own[0]}.{own[1]}.x"
            ]
        )


class KubeletVersion:
    """Whether this installation's kubelet goes with the control plane; without a version, whether it goes with kubeadm."""

    name = "KubeletVersion"

    def __init__(self, control_plane: str, kubelet: str = KUBERNETES_VERSION) -> None:
        self._control_plane, self._kubelet = control_plane, kubelet

    async def check(self) -> Findings:
        """Complain of a kubelet that is newer than the control plane, or much older than kubeadm."""
        kubelet, own = parse(self._kubelet), parse(KUBERNETES_VERSION)
        shown = self._kubelet.lstrip("v")
        if kubelet[:2] < (own[0], own[1] - KUBELET_SKEW):
            return problem(
                f'Kubelet version "{shown}" is lower than kubeadm can support. Please upgrade kubelet'
            )
        if not self._control_plane:
            return Findings()
        if kubelet[:2] <= parse(self._control_plane)[:2]:
            return Findings()
        return problem(
            "the kubelet version is higher than the control plane version. This is not a supported version skew and may lead "
            f'to a malfunctional cluster. Kubelet version: "{shown}" Control plane version: '
            f'"{self._control_plane.lstrip("v")}"'
        )


class ContainerRuntimeVersion:
    """Whether the container runtime says how it manages control groups."""

    name = "ContainerRuntimeVersion"

    def __init__(self, socket_address: str) -> None:
        self._socket = socket_address

    async def check(self) -> Findings:
        """Warn of one that does not, and complain of one that does not answer."""
        try:
            known = await runtime.knows_runtime_config(self._socket)
        except KubeadmError as error:
            return problem(f"could not connect to the container runtime: {error}")
        if known:
            return Findings()
        return Findings(
            warnings=[
                "You must update your container runtime to a version that supports the CRI method RuntimeConfig. Until then "
                "the kubelet uses the cgroupDriver of its configuration."
            ]
        )


class ExternalEtcdVersion:
    """Whether an etcd that others run answers, and is new enough."""

    name = "ExternalEtcdVersion"

    def __init__(self, external: Object) -> None:
        self._external = external

    async def check(self) -> Findings:
        """Complain of members that do not answer, or are too old."""
        endpoints = self._external.get("httpEndpoints") or self._external.get("endpoints") or ()
        try:
            context = self._context()
        except (OSError, ssl.SSLError) as error:
            files = ", ".join(self._external.get(name, "") for name in ("certFile", "keyFile"))
            return problem(f"couldn't load external etcd's certificate and key pair {files}: {error}")
        client = HttpClient(most_bytes=_MOST_BYTES)
        try:
            checked = [await _member_problem(client, endpoint, context) for endpoint in endpoints]
        finally:
            client.close()
        return Findings(errors=[text for text in checked if text])

    def _context(self) -> ssl.SSLContext:
        given = {name: self._external.get(name) or None for name in ("caFile", "certFile", "keyFile")}
        return tls.client_context(given["caFile"], certificate=given["certFile"], key=given["keyFile"])


async def _member_problem(client: HttpClient, endpoint: str, context: ssl.SSLContext) -> str:
    """Return what is wrong with a member; empty if nothing is."""
    url, reason = f"{endpoint.rstrip('/')}/version", ""
    try:
        peer, path = located(url, context)
    except ValueError as error:
        return f'Get "{url}": {error}'
    for attempt in range(_ETCD_TRIES):
        if attempt:
            await asyncio.sleep(_ETCD_PAUSE)
        try:
            reply = await client.send(peer, "GET", path, b"", {}, _ETCD_SECONDS)
        except RequestFailed as error:
            reason = f'Get "{url}": {error}'
            continue
        if reply.status < 500:
            return etcd_problem(bytes(reply.body))
        reason = f"server responded with non-successful status: {reply.status}"
    return reason


def etcd_problem(answer: bytes) -> str:
    """Return what is wrong with the version that a member tells; empty if nothing is."""
    try:
        told = json.loads(answer)
        version = str(told.get("etcdserver", "")) if isinstance(told, dict) else ""
    except ValueError as error:
        return f"couldn't parse external etcd version: {error}"
    try:
        numbers = parse(version)
    except KubeadmError:
        return f'couldn\'t parse external etcd version "{version[:80]}"'
    if numbers[:3] < LEAST_ETCD:
        least = ".".join(str(number) for number in LEAST_ETCD)
        return f"this version of kubeadm only supports external etcd version >= {least}. Current version: {version}"
    if numbers[:3] in _CORRUPTING:
        return f"etcd {version} can corrupt its data: use 3.5.3 or later. Current version: {version}"
    return ""
