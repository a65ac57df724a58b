"""Requests whose framing is doubtful: two servers in a row would not read the same of them."""

from __future__ import annotations

import json
import socket
import ssl

from pybernetes.lib.tls import tls
from tests.attacks._target import ADMIN, ApiServer, Attack, Target, trusting

_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_REVIEW = b'{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'
_HEAD = b"POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\n"
_CHUNKED = b"%x\r\n%b\r\n0\r\n" % (len(_REVIEW), _REVIEW)
_BASIC = (
    b"Content-Type: application/json\r\nConnection: close\r\nAuthorization: Bearer "
    + ADMIN.encode()
    + b"\r\n"
)
_HOST = b"Host: a\r\n"
_DOUBTFUL = {
    "Transfer-Encoding: gzip, chunked": _HEAD + _HOST + _BASIC + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + _CHUNKED + b"\r\n",
    "Transfer-Encoding twice": _HEAD + _HOST + _BASIC + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n" + _CHUNKED + b"\r\n",
    "chunks with HTTP/1.0": _HEAD.replace(b"1.1", b"1.0") + _HOST + _BASIC + b"Transfer-Encoding: chunked\r\n\r\n" + _CHUNKED + b"\r\n",
    "no Host": b"GET /version HTTP/1.1\r\n" + _BASIC + b"\r\n",
    "two Hosts": b"GET /version HTTP/1.1\r\n" + _HOST * 2 + _BASIC + b"\r\n",
    "HTTP/0.9": b"GET /version\r\n\r\n",
    "length and chunks": _HEAD + _HOST + _BASIC + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + _CHUNKED + b"\r\n",
}  # fmt: skip


def _ask(server: ApiServer, data: bytes, context: ssl.SSLContext | None = None) -> bytes:
    with (
        socket.create_connection(("127.0.0.1", server.port), 20) as plain,
        (context or trusting()).wrap_socket(plain) as connection,
    ):
        connection.sendall(data)
        answer = b""
        try:
            while part := connection.recv(65536):
                answer += part
        except OSError:
            pass
        return answer


def _doubtful(target: Target) -> str:
    with target.api_server(target.folder / "framing") as server:
        taken = [
            name
            for name, data in _DOUBTFUL.items()
            if _ask(server, data).startswith((b"HTTP/1.1 2", b"HTTP/1.0 2", b"{"))
        ]
    return f"answered: {', '.join(taken)}" if taken else ""


def _trailers(target: Target) -> str:
    """Be a front proxy that passes trailers of its clients on."""
    authority = tls.create_authority("front")
    own = tls.issue(authority, "front-proxy", client=True)
    places = {name: target.folder / name for name in ("front.crt", "own.crt", "own.key")}
    for path, data in zip(places.values(), (authority.certificate, own.certificate, own.key), strict=True):
        path.write_bytes(data)
    flags = (
        f"--requestheader-client-ca-file={places['front.crt']}", "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    )  # fmt: skip
    context = trusting()
    context.load_cert_chain(places["own.crt"], places["own.key"])
    head = _HEAD + _HOST + b"Content-Type: application/json\r\nConnection: close\r\nX-Remote-User: nobody\r\n"
    with target.api_server(target.folder / "front", *flags) as server:
        answer = _ask(
            server,
            head
            + b"Transfer-Encoding: chunked\r\n\r\n"
            + _CHUNKED
            + b"X-Remote-Group: system:masters\r\n\r\n",
            context,
        )
    body = answer.partition(b"\r\n\r\n")[2]
    groups = (
        json.loads(body)["status"]["userInfo"].get("groups", []) if answer.startswith(b"HTTP/1.1 201") else []
    )
    return "a trailer made its sender one of system:masters" if "system:masters" in groups else ""


ATTACKS: dict[str, Attack] = {"6 framing that is doubtful": _doubtful, "6 trailers as headers": _trailers}
