"""ImagePull: brings the images of a control plane here, before anything is changed."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.tools.image import names
from pybernetes.tools.kubeadm import runtime
from pybernetes.tools.kubeadm.checks.check import Findings, problem
from pybernetes.tools.kubeadm.errors import KubeadmError


def listing(cluster: Object) -> list[str]:
    """Return all images that a control plane needs."""
    repository, version = cluster["imageRepository"], cluster["kubernetesVersion"]
    listed = [names.component(component, version, repository) for component in names.CONTROL_PLANE]
    if not cluster["proxy"].get("disabled"):
        listed.append(names.component("kube-proxy", version, repository))
    dns = cluster["dns"]
    if not dns.get("disabled"):
        listed.append(names.dns(dns.get("imageRepository") or repository, dns.get("imageTag", "")))
    listed.append(names.pause(repository))
    local = cluster["etcd"].get("local")
    if local is not None:
        listed.append(names.etcd(local.get("imageRepository") or repository, local.get("imageTag", "")))
    return listed


class ImagePull:
    """Pulls what is missing."""

    name = "ImagePull"

    def __init__(self, cluster: Object, registration: Object) -> None:
        self.images = listing(cluster)
        self.socket, self.policy = registration["criSocket"], registration["imagePullPolicy"]
        self.serial = bool(registration["imagePullSerial"])

    async def check(self) -> Findings:
        """Complain of images that cannot be pulled."""
        if self.policy == "Never":
            return Findings()
        try:
            problems = await runtime.pull(
                self.socket, self.images, always=self.policy == "Always", serial=self.serial
            )
        except KubeadmError as error:
            return problem(f"could not connect to the container runtime: {error}")
        return problem(*problems)
