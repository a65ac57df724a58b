"""A running server, the authorities that it trusts, and requests with every kind of credentials."""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path
from typing import Any

from pybernetes.lib.tls import tls
from pybernetes.lib.tokens import jose
from tests.servers import Server

REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
TOKEN_REVIEW = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
ISSUER = "https://kubernetes.default.svc.cluster.local"


KNOWN = "system:authenticated"
ROBOTS = ["system:serviceaccounts", "system:serviceaccounts:default", KNOWN]


def uid_of(world: World, account: str) -> str:
    return world.server.call("GET", f"{ACCOUNTS}/{account}")[1]["metadata"]["uid"]


class World:
    """A server, the authorities that it trusts, and one that it does not."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        names = ("clients", "proxies", "kubelets", "strangers")
        self.authorities = {name: tls.create_authority(name) for name in names}
        for name, pair in self.authorities.items():
            (directory / f"{name}.crt").write_bytes(pair.certificate)
        self.server: Server = None  # type: ignore[assignment]

    def certificate(self, authority: str, name: str, *groups: str) -> tuple[Path, Path]:
        pair = tls.issue(self.authorities[authority], name, organizations=groups, client=True)
        paths = self.directory / f"{name}-{authority}.crt", self.directory / f"{name}-{authority}.key"
        paths[0].write_bytes(pair.certificate)
        paths[1].write_bytes(pair.key)
        return paths

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *headers: tuple[str, str],
        certificate: tuple[Path, Path] | None = None,
        token: str = "",
    ) -> tuple[int, Any]:
        """Return one request with exactly these credentials; headers may repeat."""
        context = ssl.create_default_context(cafile=str(self.server.authority))
        if certificate is not None:
            context.load_cert_chain(*certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, context=context, timeout=30)
        try:
            connection.putrequest(method, path)
            data = json.dumps(body).encode() if body is not None else b""
            for name, value in (("Content-Length", str(len(data))), *headers):
                connection.putheader(name, value)
            if token:
                connection.putheader("Authorization", f"Bearer {token}")
            connection.endheaders(data)
            response = connection.getresponse()
            text = response.read()
            json_like = "json" in response.headers.get("Content-Type", "")
            return response.status, json.loads(text) if json_like and text else text.decode()
        finally:
            connection.close()

    def whoami(self, *headers: tuple[str, str], **credentials: Any) -> Any:
        """Return the user that the server sees, or the status if it is not let in."""
        status, answer = self.call("POST", REVIEW, {}, *headers, **credentials)
        return answer["status"]["userInfo"] if status == 201 else status

    def token(self, account: str, **spec: Any) -> str:
        status, made = self.server.call("POST", f"{ACCOUNTS}/{account}/token", {"spec": spec})
        assert status == 201, made
        return made["status"]["token"]

    def forge(self, token: str, **changes: Any) -> str:
        """Return a token with other claims, signed with the server's own key."""
        claims = json.loads(jose.decode(token.split(".")[1].encode()))
        return jose.sign(self.key, {**claims, **changes})

    @property
    def key(self) -> jose.SigningKey:
        return jose.read_private_key(self.server.directory / "certs" / "sa.key")
