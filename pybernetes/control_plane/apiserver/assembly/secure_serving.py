"""The flags of the listener: where it listens, and with which certificates."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.lib.flags import Flag, Repeated, Seconds
from pybernetes.lib.network import network
from pybernetes.lib.tls import ciphers
from pybernetes.lib.tls.serving_certificates import CABundle, KeyPair, ServingCertificates, own_pair

log = logging.getLogger(__name__)
_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
          "kubernetes.default.svc.cluster.local", "127.0.0.1", "::1")  # fmt: skip


FLAGS = (
    Flag("bind-address", "0.0.0.0", "address to listen on"),
    Flag("secure-port", 6443, "port to listen on; 0 takes a free one"),
    Flag("advertise-address", "", "address that others reach this server at"),
    Flag("cert-dir", "/var/run/kubernetes", "where certificates and keys are kept or made"),
    Flag("tls-cert-file", "", "certificate to serve with; a new one is used as soon as the file has it"),
    Flag("tls-private-key-file", "", "its key"),
    Flag("tls-sni-cert-key", Repeated(), "another certificate and its key: cert,key or cert,key:name,name"),
    Flag("tls-cipher-suites", (), f"suites to accept: {', '.join(sorted(ciphers.PREFERRED))}"),
    Flag("tls-min-version", "", f"oldest version of TLS to accept: {', '.join(sorted(ciphers.VERSIONS))}"),
    Flag("external-hostname", "", "the name that others know this server by"),
    Flag("shutdown-delay-duration", Seconds(0), "how long to go on serving while not ready"),
)


def named_pair(text: str) -> KeyPair:
    """Return a certificate and a key, with the names that they are for."""
    files, colon, names = text.partition(":")
    parts = [part.strip() for part in files.split(",")]
    if len(parts) != 2:
        raise ValueError("--tls-sni-cert-key: expected comma separated certificate and key file paths")
    if colon and not names.strip():
        raise ValueError("--tls-sni-cert-key: empty names list is not allowed")
    listed = tuple(name.strip() for name in names.split(",")) if colon else ()
    return KeyPair(Path(parts[0]), Path(parts[1]), listed)


def advertised(arguments: argparse.Namespace) -> str:
    """Return the address that others reach this server at."""
    if arguments.advertise_address:
        return arguments.advertise_address
    if arguments.bind_address not in ("0.0.0.0", "::", ""):
        return arguments.bind_address
    return network.default_address()


def serving(arguments: argparse.Namespace, pair: KeyPair, bundles: list[CABundle]) -> ServingCertificates:
    """Return the TLS of the listener; ValueError if the flags make no sense."""
    for name in arguments.tls_cipher_suites:
        if name in ciphers.INSECURE:
            log.warning("--tls-cipher-suites: %s is insecure", name)
    return ServingCertificates(
        pair,
        [named_pair(text) for text in arguments.tls_sni_cert_key],
        bundles,
        ciphers=ciphers.openssl_list(arguments.tls_cipher_suites),
        minimum=ciphers.minimum_version(arguments.tls_min_version),
    )


def certificates(arguments: argparse.Namespace) -> tuple[KeyPair, Path | None]:
    """Return the serving certificate with its key, and the authority that made them if they are of our own making."""
    if arguments.tls_cert_file or arguments.tls_private_key_file:
        if not (arguments.tls_cert_file and arguments.tls_private_key_file):
            raise ValueError("--tls-cert-file and --tls-private-key-file go together")
        return KeyPair(Path(arguments.tls_cert_file), Path(arguments.tls_private_key_file)), None
    names = [*_NAMES, advertised(arguments)]
    if arguments.external_hostname:
        names.append(arguments.external_hostname)
    services = ServiceOptions.parse(arguments.service_cluster_ip_range, arguments.service_node_port_range)
    names += [range_.address(range_.first) for range_ in services.ranges]
    return own_pair(Path(arguments.cert_dir), names, "apiserver")
