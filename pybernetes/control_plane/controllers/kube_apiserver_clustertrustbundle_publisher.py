"""ClusterTrustBundle publisher: the API server's certificate authority as a bundle that pods can project."""

from __future__ import annotations

import hashlib
from argparse import Namespace

from pybernetes.client.errors import AlreadyExists, NotFound
from pybernetes.client.refs import CLUSTER_TRUST_BUNDLES
from pybernetes.control_plane.controllers._certificates import root_ca
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

SIGNER = "kubernetes.io/kube-apiserver-serving"


def bundle_name(signer: str, certificates: str) -> str:
    """Return the name of a bundle, which contains a hash of its content."""
    digest = hashlib.sha256(certificates.encode()).hexdigest()
    return f"{signer.replace('/', ':')}:{digest[:24]}"


class ClusterTrustBundlePublisher(Controller):
    """Whatever happens to a bundle of the signer, all of them are looked at."""

    name = "kube-apiserver-serving-clustertrustbundle-publisher-controller"
    selects = {CLUSTER_TRUST_BUNDLES: {"fields": f"spec.signerName={SIGNER}"}}
    workers = 1

    def __init__(self, runtime: Runtime, certificates: str) -> None:
        super().__init__(runtime)
        self._certificates = certificates
        self._name = bundle_name(SIGNER, certificates)
        self.cache(CLUSTER_TRUST_BUNDLES).add_handler(lambda old, new: self.enqueue(SIGNER))

    async def prepare(self) -> None:
        self.enqueue(SIGNER)

    async def reconcile(self, key: str) -> None:
        """Publish the current bundle and remove those of former certificates."""
        bundles = self.cache(CLUSTER_TRUST_BUNDLES)
        current = bundles.get(self._name)
        spec = {"signerName": SIGNER, "trustBundle": self._certificates}
        if current is None:
            try:
                await self.client.create(
                    CLUSTER_TRUST_BUNDLES, {"metadata": {"name": self._name}, "spec": spec}
                )
            except AlreadyExists:
                pass
        elif current["spec"].get("trustBundle") != self._certificates:
            await self.client.update(CLUSTER_TRUST_BUNDLES, {**current, "spec": spec})
        for bundle in bundles.values():
            if bundle["metadata"]["name"] != self._name:
                try:
                    await self.client.delete(CLUSTER_TRUST_BUNDLES, bundle["metadata"]["name"])
                except NotFound:
                    pass


def build(runtime: Runtime, options: Namespace) -> ClusterTrustBundlePublisher | None:
    """Build the controller; return None without certificates to publish."""
    certificates = root_ca.read(options)
    return ClusterTrustBundlePublisher(runtime, certificates) if certificates else None


CONTROLLER = Descriptor(
    name=ClusterTrustBundlePublisher.name,
    identity="kube-apiserver-serving-clustertrustbundle-publisher",
    flags=(root_ca.ROOT_CA_FILE,),
    build=build,
)
