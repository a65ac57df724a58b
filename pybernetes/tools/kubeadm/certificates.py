"""Makes the certificates of a control plane, or takes those that are there if they fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pybernetes.api.text import durations
from pybernetes.lib.tls.tls import Pair, load
from pybernetes.tools.kubeadm import certificate_files as files
from pybernetes.tools.kubeadm.certificate_list import BY_NAME, Certificate, Subject
from pybernetes.tools.kubeadm.configuration.validation_parts import is_address
from pybernetes.tools.kubeadm.errors import KubeadmError

Say = Callable[[str], None]


def lifetime(subject: Subject, certificate: Certificate) -> float:
    """Return for how many seconds a certificate is made."""
    field = "certificateValidityPeriod" if certificate.authority else "caCertificateValidityPeriod"
    return durations.parse_duration(subject.cluster[field])


def issue(subject: Subject, certificate: Certificate, authority: Pair) -> Pair:
    """Return a new certificate of an authority."""
    return files.issue(
        authority,
        certificate.subject_name(subject),
        algorithm=subject.cluster["encryptionAlgorithm"],
        seconds=lifetime(subject, certificate),
        organizations=certificate.organizations,
        names=certificate.names(subject) if certificate.names else (),
        server=certificate.server,
        client=certificate.client,
    )


def ensure(folder: Path, subject: Subject, certificate: Certificate, say: Say) -> None:
    """Make a certificate, unless a good one is there."""
    if certificate.authority:
        _ensure_leaf(folder, subject, certificate, say)
    else:
        _ensure_authority(folder, subject, certificate, say)


def _ensure_authority(folder: Path, subject: Subject, certificate: Certificate, say: Say) -> None:
    existing = files.read_certificate(folder / f"{certificate.base}.crt")
    if existing is not None:
        if files.read_pair(folder, certificate.base) is None:
            say(f"[certs] Using existing {certificate.base} keyless certificate authority")
        else:
            say(f"[certs] Using existing {certificate.base} certificate authority")
        return
    if (folder / f"{certificate.base}.key").exists():
        raise KubeadmError(
            f"{folder / certificate.base}.key exists without its certificate: a new authority would not fit it"
        )
    say(f'[certs] Generating "{certificate.base}" certificate and key')
    made = files.new_authority(
        certificate.common_name, subject.cluster["encryptionAlgorithm"], lifetime(subject, certificate)
    )
    files.write_pair(folder, certificate.base, made)


def _ensure_leaf(folder: Path, subject: Subject, certificate: Certificate, say: Say) -> None:
    authority_base = BY_NAME[certificate.authority].base
    existing = files.read_pair(folder, certificate.base)
    if existing is not None:
        _check(folder, subject, certificate, existing, authority_base)
        say(f"[certs] Using existing {certificate.base} certificate and key on disk")
        return
    authority = files.read_pair(folder, authority_base)
    if authority is None:
        raise KubeadmError(
            f"couldn't load CA certificate {certificate.authority} for {certificate.name}: {folder / authority_base}.crt and "
            f"{authority_base}.key are needed to sign it"
        )
    say(f'[certs] Generating "{certificate.base}" certificate and key')
    files.write_pair(folder, certificate.base, issue(subject, certificate, authority))
    if certificate.names:
        names = certificate.names(subject)
        hosts = " ".join(name for name in names if not is_address(name))
        addresses = " ".join(name for name in names if is_address(name))
        say(
            f"[certs] {certificate.base} serving cert is signed for DNS names [{hosts}] and IPs [{addresses}]"
        )


def _check(folder: Path, subject: Subject, certificate: Certificate, pair: Pair, authority_base: str) -> None:
    """Refuse a certificate that the control plane could not use."""
    issuer = files.read_certificate(folder / f"{authority_base}.crt")
    if issuer is None:
        raise KubeadmError(f"{folder / authority_base}.crt is missing, which signed {certificate.base}.crt")
    own = load(pair)[0]
    if not files.is_issued_by(own, issuer):
        raise KubeadmError(
            f"[certs] certificate {certificate.base} not signed by CA certificate {authority_base}"
        )
    if certificate.names:
        missing = [name for name in certificate.names(subject) if name not in files.alternative_names(own)]
        if missing:
            raise KubeadmError(
                f"[certs] certificate {certificate.base} is invalid: x509: certificate is valid for "
                f"{', '.join(sorted(files.alternative_names(own)))}, not {missing[0]}"
            )


def ensure_service_account_key(folder: Path, algorithm: str, say: Say) -> None:
    """Make the key that signs tokens of service accounts, unless there is one."""
    private, public = folder / "sa.key", folder / "sa.pub"
    if private.exists():
        say('[certs] Using the existing "sa" key')
        return
    if public.exists():
        raise KubeadmError(f"{public} exists without {private}")
    say('[certs] Generating "sa" key and public key')
    key = files.new_key(algorithm)
    folder.mkdir(parents=True, exist_ok=True, mode=0o755)
    files.write_atomically(private, files.key_pem(key), 0o600)
    files.write_atomically(public, files.public_pem(key), 0o600)


def authority(folder: Path, base: str = "ca") -> Pair:
    """Return an authority with its key; KubeadmError if it is not here."""
    pair = files.read_pair(folder, base)
    if pair is None:
        raise KubeadmError(f"couldn't load CA certificate: {folder / base}.crt or its key does not exist")
    return pair
