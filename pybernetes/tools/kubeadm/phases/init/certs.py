"""certs: the certificates and keys of a control plane."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pybernetes.tools.kubeadm import certificates
from pybernetes.tools.kubeadm.certificate_list import CERTIFICATES, Certificate
from pybernetes.tools.kubeadm.init_data import InitData, say
from pybernetes.tools.kubeadm.workflow import Phase


async def _begin(data: InitData) -> None:
    say(f'[certs] Using certificateDir folder "{data.folders.certificates}"')


def _make(certificate: Certificate) -> Callable[[InitData], Awaitable[None]]:
    async def run(data: InitData) -> None:
        if certificate.etcd and not data.subject.local_etcd:
            say(f"[certs] External etcd mode: Skipping {certificate.base} certificate authority generation"
                if not certificate.authority else f"[certs] External etcd mode: Skipping {certificate.base} certificate generation")  # fmt: skip
            return
        certificates.ensure(data.folders.certificates, data.subject, certificate, say)

    return run


async def _service_accounts(data: InitData) -> None:
    algorithm = data.cluster["encryptionAlgorithm"]
    certificates.ensure_service_account_key(data.folders.certificates, algorithm, say)


_FLAGS = "cert-dir config dry-run kubernetes-version"
_SERVER = f"{_FLAGS} apiserver-advertise-address apiserver-cert-extra-sans control-plane-endpoint service-cidr service-dns-domain"
PHASE = Phase(
    "certs",
    "Certificate generation",
    _begin,
    (
        *(
            Phase(
                certificate.name,
                f"Generate the {certificate.long_name}",
                _make(certificate),
                flags=_SERVER if certificate.name == "apiserver" else _FLAGS,
            )
            for certificate in CERTIFICATES
        ),
        Phase(
            "sa",
            "Generate a private key for signing service account tokens along with its public key",
            _service_accounts,
            flags=_FLAGS,
        ),
    ),
)
