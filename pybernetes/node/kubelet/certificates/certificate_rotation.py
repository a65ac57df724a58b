"""Replaces certificates of the kubelet before they expire."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from pathlib import Path

from pybernetes.client import Client, StatusError
from pybernetes.lib.clock import Clock
from pybernetes.lib.tls import tls
from pybernetes.node.kubelet.certificates.certificate_request import SERVING_SIGNER, request_certificate
from pybernetes.node.kubelet.config import ConfigurationError
from pybernetes.node.kubelet.options import Options

log = logging.getLogger(__name__)
_RENEW_AFTER = 0.8


def renewal_delay(path: Path, now: float) -> float:
    """Return the seconds until a certificate is to be replaced: when about four fifths of its life are over."""
    begin, end = tls.validity(path)
    share = _RENEW_AFTER + random.random() * 0.1 - 0.05
    return max(0.0, begin + (end - begin) * share - now)


class CertificateRotation:
    """Replaces a certificate (client or serving) before it expires."""

    def __init__(self, client: Client, clock: Clock, options: Options, addresses: tuple[str, ...]) -> None:
        self._client, self._clock, self._options, self._addresses = client, clock, options, addresses

    async def run(self, signer: str, path: Path, replaced: Callable[[Path], None]) -> None:
        """Renew one certificate until cancelled; ``replaced`` is called with its new file."""
        while True:
            if path.exists():
                await self._clock.sleep(renewal_delay(path, self._clock.now()))
            names = (self._options.hostname or self._options.node_name, *self._addresses)
            try:
                pair = await request_certificate(
                    self._client, f"system:node:{self._options.node_name}", ("system:nodes",), signer,
                    names if signer == SERVING_SIGNER else (), self._clock,
                )  # fmt: skip
            except (StatusError, OSError, ConfigurationError) as error:
                log.warning("the certificate %s cannot be renewed: %s", path.name, error)
                await self._clock.sleep(60)
                continue
            await asyncio.to_thread(tls.write_atomically, path, pair.certificate + pair.key, 0o600)
            replaced(path)
