"""RootCACertificatePublisher: every namespace has the API server's certificate authority in a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pybernetes.api.resource import Object
from pybernetes.client.client import copy
from pybernetes.client.errors import AlreadyExists, NotFound, StatusError
from pybernetes.client.refs import CONFIG_MAPS, NAMESPACES, Kindlike
from pybernetes.control_plane.controllers._certificates import root_ca
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.deletion import is_namespace_terminating
from pybernetes.runtime.controller import Controller, Mapper
from pybernetes.runtime.runtime import Runtime

NAME = "kube-root-ca.crt"
ANNOTATION = "kubernetes.io/description"
DESCRIPTION = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as "
    "the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
    "Kubernetes clusters."
)


def published(config_map: Object | None, namespace: str, certificates: str) -> Object | None:
    """Return the desired ConfigMap, or None if nothing changes."""
    data = {"ca.crt": certificates}
    if config_map is None:
        meta = {"name": NAME, "namespace": namespace, "annotations": {ANNOTATION: DESCRIPTION}}
        return {"metadata": meta, "data": data}
    annotations = config_map["metadata"].get("annotations") or {}
    if config_map.get("data") == data and annotations.get(ANNOTATION):
        return None
    wanted = copy(config_map)
    wanted["data"] = data
    wanted["metadata"]["annotations"] = {**annotations, ANNOTATION: DESCRIPTION}
    return wanted


class RootCACertificatePublisher(Controller):
    """Works on names of namespaces."""

    name = "root-ca-certificate-publisher-controller"
    kind = NAMESPACES
    selects = {CONFIG_MAPS: {"fields": f"metadata.name={NAME}"}}
    workers = 1

    def __init__(self, runtime: Runtime, certificates: str) -> None:
        super().__init__(runtime)
        self._certificates = certificates

    def watches(self) -> Mapping[Kindlike, Mapper]:
        return {CONFIG_MAPS: self._namespace_of}

    @staticmethod
    def _namespace_of(config_map: Object) -> Iterable[str]:
        return (config_map["metadata"]["namespace"],)

    async def reconcile(self, key: str) -> None:
        """Create or correct the ConfigMap of a namespace."""
        namespace = self.objects.get(key)
        if namespace is None or namespace.get("status", {}).get("phase") != "Active":
            return
        current = self.cache(CONFIG_MAPS).get(f"{key}/{NAME}")
        wanted = published(current, key, self._certificates)
        if wanted is None:
            return
        try:
            if current is None:
                await self.client.create(CONFIG_MAPS, wanted)
            else:
                await self.client.update(CONFIG_MAPS, wanted)
        except (AlreadyExists, NotFound):
            pass
        except StatusError as error:
            if not is_namespace_terminating(error):
                raise


CONTROLLER = Descriptor(
    name=RootCACertificatePublisher.name,
    aliases=("root-ca-cert-publisher",),
    identity="root-ca-cert-publisher",
    flags=(root_ca.ROOT_CA_FILE,),
    build=lambda runtime, options: RootCACertificatePublisher(runtime, root_ca.read(options)),
)
