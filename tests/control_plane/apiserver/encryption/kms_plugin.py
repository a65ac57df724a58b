"""A KMS v2 plug-in for tests: gRPC on a Unix socket, with keys that can be changed and answers that can be spoilt.

``python -m tests.control_plane.apiserver.encryption.kms_plugin SOCKET KEY_ID`` runs one, for servers that are not ours.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc

from pybernetes.control_plane.apiserver.encryption.providers.aesgcm import AesGcm
from pybernetes.control_plane.apiserver.encryption.providers.kms import messages

ANNOTATION = "version.encryption.example.com"


class KmsPlugin:
    """The plug-in. ``key_id`` names the key in use; older ones are still known."""

    def __init__(self, socket: Path, key_id: str = "key-1") -> None:
        self.socket, self.key_id = socket, key_id
        self.healthz, self.version = "ok", "v2"
        self.status_key_id: str | None = None  # another one than is used, for a plug-in that is confused
        self.calls = {"Status": 0, "Encrypt": 0, "Decrypt": 0}
        self._server: Any = None

    def start(self) -> KmsPlugin:
        """Listen."""
        self.socket.unlink(missing_ok=True)
        methods = {
            name: grpc.unary_unary_rpc_method_handler(
                getattr(self, f"_{name.lower()}"),
                request_deserializer=messages.classes()[f"{name}Request"].FromString,
                response_serializer=lambda message: message.SerializeToString(),
            )
            for name in self.calls
        }
        self._server = grpc.server(ThreadPoolExecutor(4))
        handler = grpc.method_handlers_generic_handler("v2.KeyManagementService", methods)
        self._server.add_generic_rpc_handlers((handler,))
        self._server.add_insecure_port(f"unix:{self.socket}")
        self._server.start()
        return self

    def stop(self) -> None:
        """Stop listening; calls that are under way are ended."""
        self._server.stop(None).wait(10)

    def _cipher(self, key_id: str) -> AesGcm:
        return AesGcm(hashlib.sha256(key_id.encode()).digest())

    def _status(self, request: Any, context: Any) -> Any:
        self.calls["Status"] += 1
        key_id = self.key_id if self.status_key_id is None else self.status_key_id
        return messages.classes()["StatusResponse"](version=self.version, healthz=self.healthz, key_id=key_id)

    def _encrypt(self, request: Any, context: Any) -> Any:
        self.calls["Encrypt"] += 1
        sealed = self._cipher(self.key_id).encrypt(request.plaintext, b"kms")
        return messages.classes()["EncryptResponse"](
            ciphertext=sealed, key_id=self.key_id, annotations={ANNOTATION: b"1"}
        )

    def _decrypt(self, request: Any, context: Any) -> Any:
        self.calls["Decrypt"] += 1
        if request.annotations.get(ANNOTATION) != b"1":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the annotation is missing")
        try:
            plain = self._cipher(request.key_id).decrypt(request.ciphertext, b"kms")
        except ValueError as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        return messages.classes()["DecryptResponse"](plaintext=plain)


if __name__ == "__main__":
    KmsPlugin(Path(sys.argv[1]), sys.argv[2]).start()
    threading.Event().wait()
