"""CSR signing: signs approved requests for the signers of Kubernetes itself."""

from __future__ import annotations

import base64
from argparse import Namespace
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS
from pybernetes.control_plane.controllers._certificates import signing_requests
from pybernetes.control_plane.controllers._certificates.signing_requests import Authority
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib import rfc3339
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

_SIGNERS = {
    "kubelet_serving": signing_requests.KUBELET_SERVING,
    "kubelet_client": signing_requests.KUBELET_CLIENT,
    "kube_apiserver_client": signing_requests.CLIENT,
    "legacy_unknown": signing_requests.LEGACY,
}


class SigningController(Controller):
    """Works on names of requests; ``authorities`` are those of the signers that it is."""

    name = "certificatesigningrequest-signing-controller"
    kind = CERTIFICATE_SIGNING_REQUESTS

    def __init__(
        self, runtime: Runtime, authorities: dict[str, Authority], longest: float = 365 * 86400.0
    ) -> None:
        self._authorities, self._longest = authorities, longest
        super().__init__(runtime)

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return new is not None and new["spec"].get("signerName") in self._authorities and _is_due(new)

    async def reconcile(self, key: str) -> None:
        """Sign a request, or report why not."""
        csr = self.objects.get(key)
        if csr is None or not _is_due(csr):
            return
        spec, status = csr["spec"], csr.get("status", {})
        signer, usages = spec["signerName"], spec.get("usages") or []
        request = signing_requests.parse(csr)
        fault = signing_requests.FAULTS[signer](request, usages)
        now = self.clock.now()
        if fault:
            failed = {
                "type": "Failed",
                "status": "True",
                "reason": "SignerValidationFailure",
                "message": fault,
                "lastUpdateTime": rfc3339.seconds(now),
                "lastTransitionTime": rfc3339.seconds(now),
            }
            status = {**status, "conditions": [*(status.get("conditions") or ()), failed]}
        else:
            seconds = signing_requests.lifetime(spec.get("expirationSeconds"), self._longest)
            signed = signing_requests.sign(self._authorities[signer], request, usages, seconds, now)
            status = {**status, "certificate": base64.b64encode(signed).decode()}
        try:
            await self.client.update_status(CERTIFICATE_SIGNING_REQUESTS, {**csr, "status": status})
        except NotFound:
            pass


def _is_due(csr: Object) -> bool:
    """Return whether a request waits for a signature."""
    return (
        signing_requests.is_approved(csr)
        and "Failed" not in signing_requests.conditions(csr)
        and not csr.get("status", {}).get("certificate")
    )


def authorities(options: Namespace) -> dict[str, Authority]:
    """Return the authority of each signer, one for all or one for each; raise ValueError for flags that do not fit."""
    everybody = (options.cluster_signing_cert_file, options.cluster_signing_key_file)
    own = {
        signer: (
            getattr(options, f"cluster_signing_{name}_cert_file"),
            getattr(options, f"cluster_signing_{name}_key_file"),
        )
        for name, signer in _SIGNERS.items()
    }
    specific = any(any(files) for files in own.values())
    if all(everybody) and specific:
        raise ValueError("cannot specify default and per controller certs at the same time")
    if not specific:
        own = {signer: everybody for signer in own} if all(everybody) else {}
    by_signer = {}
    for signer, files in own.items():
        if not any(files):
            continue
        if not all(files):
            raise ValueError(f"the signer {signer} needs a certificate and a key")
        by_signer[signer] = Authority(Path(files[0]), Path(files[1]))
        by_signer[signer].load()
    return by_signer


def build(runtime: Runtime, options: Namespace) -> SigningController | None:
    """Build the controller; return None without an authority to sign with."""
    by_signer = authorities(options)
    return SigningController(runtime, by_signer, options.cluster_signing_duration) if by_signer else None


CONTROLLER = Descriptor(
    name=SigningController.name,
    aliases=("csrsigning",),
    identity="certificate-controller",
    flags=(
        Flag("cluster-signing-cert-file", "", "certificate authority that signs for every signer"),
        Flag("cluster-signing-key-file", "", "its key"),
        *(
            Flag(f"cluster-signing-{name.replace('_', '-')}-{part}-file", "", f"{what} of {signer} alone")
            for name, signer in _SIGNERS.items()
            for part, what in (("cert", "certificate authority"), ("key", "key"))
        ),
        Flag("cluster-signing-duration", Seconds(365 * 86400), "how long certificates are good for at most"),
    ),
    build=build,
)
