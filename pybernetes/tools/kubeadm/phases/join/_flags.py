"""Flags that several phases of ``join`` take when they are run alone."""

from __future__ import annotations

DISCOVERY = (
    "discovery-file discovery-token discovery-token-ca-cert-hash discovery-token-unsafe-skip-ca-verification "
    "tls-bootstrap-token token"
)
ENDPOINT = "[api-server-endpoint]"
