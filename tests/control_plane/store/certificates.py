"""Makes a CA and certificates for tests."""

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


class Authority:
    """A CA that signs certificates for 127.0.0.1."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        certificate = self._builder(self._name, self._key).add_extension(basic, critical=True)
        self.path = directory / f"{name}.crt"
        self.path.write_bytes(self._sign(certificate))

    def issue(self, name: str) -> tuple[Path, Path]:
        """Return the files of a new certificate and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        usages = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        certificate = self._builder(subject, key).add_extension(names, critical=False)
        certificate = certificate.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        files = self._directory / f"{name}.crt", self._directory / f"{name}.key"
        files[0].write_bytes(self._sign(certificate))
        files[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return files

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return x509.CertificateBuilder(
            issuer_name=self._name,
            subject_name=subject,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - datetime.timedelta(hours=1),
            not_valid_after=now + datetime.timedelta(hours=1),
        )

    def _sign(self, certificate: x509.CertificateBuilder) -> bytes:
        return certificate.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
