"""Calls a KMS v2 plug-in: gRPC over a Unix socket."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit

from pybernetes.control_plane.apiserver.encryption.metrics import EncryptionMetrics
from pybernetes.control_plane.apiserver.encryption.providers.kms import messages
from pybernetes.lib.grpc.channel import Channel, RpcError, StatusCode

# Answers hold a key and a few annotations: more than this is no answer.
_MOST_BYTES = 256 * 1024


class CallFailed(ValueError):
    """The plug-in gave no answer; the text says why as Go's gRPC does. ``is_down`` if others would not get one either."""

    def __init__(self, text: str, *, is_down: bool) -> None:
        super().__init__(text)
        self.is_down = is_down


def address(endpoint: str) -> str:
    """Return the address of a plug-in as gRPC has it; a name that begins with @ is one without a file."""
    path = urlsplit(endpoint).path
    return f"unix-abstract:{path[2:]}" if path.startswith("/@") else f"unix:{path}"


class KmsService:
    """One plug-in. The connection is made with the first call."""

    def __init__(self, name: str, endpoint: str, seconds: float, metrics: EncryptionMetrics) -> None:
        self.name, self._endpoint, self._seconds, self._metrics = name, endpoint, seconds, metrics
        self._channel: Any = None
        self._calls: dict[str, Any] = {}

    async def status(self) -> Any:
        """Return the version, the health and the key id of the plug-in."""
        return await self._call("Status")

    async def encrypt(self, plaintext: bytes, uid: str) -> Any:
        """Return bytes as the plug-in encrypts them."""
        return await self._call("Encrypt", plaintext=plaintext, uid=uid)

    async def decrypt(self, ciphertext: bytes, uid: str, key_id: str, annotations: dict[str, bytes]) -> bytes:
        """Return what the plug-in encrypted."""
        answer = await self._call(
            "Decrypt", ciphertext=ciphertext, uid=uid, key_id=key_id, annotations=annotations
        )
        return bytes(answer.plaintext)

    async def _call(self, method: str, **fields: Any) -> Any:
        if self._channel is None:
            self._connect()
        begin = time.monotonic()
        code = "OK"
        try:
            request = messages.classes()[f"{method}Request"](**fields)
            return await self._calls[method](request, timeout=self._seconds, wait_for_ready=True)
        except RpcError as error:
            code = "".join(word.capitalize() for word in error.code.name.split("_"))
            details = error.details
            down = error.code in (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED)
            if error.code is StatusCode.DEADLINE_EXCEEDED:
                details = "context deadline exceeded"
            raise CallFailed(f"rpc error: code = {code} desc = {details}", is_down=down) from None
        finally:
            self._metrics.called(self.name, messages.SERVICE + method, code, time.monotonic() - begin)

    def _connect(self) -> None:
        self._channel = Channel(address(self._endpoint), most_bytes=_MOST_BYTES)
        for method in ("Status", "Encrypt", "Decrypt"):
            self._calls[method] = self._channel.unary_unary(
                messages.SERVICE + method,
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=messages.classes()[f"{method}Response"].FromString,
            )

    async def close(self) -> None:
        """End the connection."""
        if self._channel is not None:
            await self._channel.close()
            self._channel = None
