"""Keys and requests for certificates that an authority elsewhere signs."""

from __future__ import annotations

from pathlib import Path

from pybernetes.tools.kubeadm import certificate_files as files
from pybernetes.tools.kubeadm import kubeconfig_files
from pybernetes.tools.kubeadm.certificate_list import wanted
from pybernetes.tools.kubeadm.configuration import networks
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.kubeconfig_files import Identity
from pybernetes.tools.kubeadm.renewal import Place


def generate(where: Place) -> list[str]:
    """Write keys and requests for all certificates and kubeconfigs; return what was made. Nothing is overwritten."""
    certificates = [certificate for certificate in wanted(where.subject) if certificate.authority]
    identities = list(kubeconfig_files.identities(where.subject.node).values())
    bases = [where.certificates / certificate.base for certificate in certificates]
    present = [
        path
        for path in (
            *(_beside(base, suffix) for base in bases for suffix in (".csr", ".key")),
            *(
                where.kubernetes / f"{identity.file}{suffix}"
                for identity in identities
                for suffix in ("", ".csr")
            ),
        )
        if path.exists()
    ]
    if present:
        raise KubeadmError(f"could not generate CSRs: {present[0]} exists already")
    said = [f"generating keys and CSRs in {where.certificates}"]
    for certificate, base in zip(certificates, bases, strict=True):
        names = certificate.names(where.subject) if certificate.names else ()
        key, request = files.request(
            certificate.subject_name(where.subject), certificate.organizations, names, _algorithm(where)
        )
        base.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        files.write_atomically(_beside(base, ".key"), key, 0o600)
        files.write_atomically(_beside(base, ".csr"), request, 0o600)
        said.append(f"  {certificate.base}")
    said.append(f"generating keys and CSRs in {where.kubernetes}")
    for identity in identities:
        _kubeconfig(where, identity)
        said.append(f"  {identity.file}")
    return said


def _beside(base: Path, suffix: str) -> Path:
    return base.with_name(f"{base.name}{suffix}")


def _algorithm(where: Place) -> str:
    return str(where.subject.cluster["encryptionAlgorithm"])


def _kubeconfig(where: Place, identity: Identity) -> None:
    """Write a kubeconfig that has a key and lacks the certificate, and the request for that."""
    key, request = files.request(identity.user, identity.organizations, (), _algorithm(where))
    own = f"https://{networks.joined(where.subject.address, where.port)}"
    everywhere = kubeconfig_files.control_plane_server(
        where.subject.cluster, where.subject.address, where.port
    )
    content = kubeconfig_files.value(
        own if identity.local else everywhere, where.subject.cluster["clusterName"], b"", identity.user,
        {"client-key-data": kubeconfig_files.encoded(key)},
    )  # fmt: skip
    # Who the authority is, the machine learns with the certificates.
    del content["clusters"][0]["cluster"]["certificate-authority-data"]
    kubeconfig_files.write(where.kubernetes / identity.file, content)
    files.write_atomically(where.kubernetes / f"{identity.file}.csr", request, 0o600)
