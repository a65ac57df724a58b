"""Certificates and keys, which connections get apart from the listeners."""

from __future__ import annotations

from pybernetes.control_plane.gateway.envoy.messages import SECRET, Message, message


def secret(name: str, pair: tuple[bytes, bytes]) -> Message:
    """Return a certificate with its key."""
    chain, key = pair
    certificate = {"certificate_chain": {"inline_bytes": chain}, "private_key": {"inline_bytes": key}}
    return message(SECRET, {"name": name, "tls_certificate": certificate})
