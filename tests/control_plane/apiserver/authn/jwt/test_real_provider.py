"""An OpenID provider that is not ours, over TLS: a person logs in with its form, and kubectl's token is what it gave them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import werkzeug.serving

from pybernetes.lib.tls import tls
from tests.control_plane.apiserver.authn.jwt.test_server import who
from tests.servers import running
from tests.support import until

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it says what it will have to change
    import oidc_provider_mock

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
BACK = "http://localhost:8000/callback"


class Provider:
    """The provider; it has another key after ``restart``, as after a rotation."""

    def __init__(self, directory: Path) -> None:
        certificate, key, self.authority = tls.ensure_serving(directory, ["127.0.0.1"], "provider")
        self._server = werkzeug.serving.make_server(
            "127.0.0.1", 0, self._app(), threaded=True, ssl_context=(str(certificate), str(key))
        )
        self.url = f"https://127.0.0.1:{self._server.server_port}"

    @staticmethod
    def _app() -> Any:
        user = oidc_provider_mock.User(
            sub="jane", claims={"email": "jane@example.com", "email_verified": True}
        )
        return oidc_provider_mock.app(user_claims=[user])

    def restart(self) -> None:
        """Forget everything but the address."""
        self._server.app = self._app()

    @contextmanager
    def serving(self) -> Iterator[Provider]:
        """Serve until the end of the context."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join(60)
            self._server.server_close()

    def log_in(self, subject: str, audience: str) -> str:
        """Return the ID token that a person gets who logs in for a client."""
        context = tls.client_context(self.authority)
        with httpx.Client(base_url=self.url, verify=context, timeout=60) as http:
            configuration = http.get("/.well-known/openid-configuration").json()
            query = {
                "client_id": audience,
                "redirect_uri": BACK,
                "response_type": "code",
                "scope": "openid email",
            }
            answer = http.post(configuration["authorization_endpoint"], params=query, data={"sub": subject})
            (code,) = parse_qs(urlsplit(answer.headers["Location"]).query)["code"]
            form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
            token = http.post(configuration["token_endpoint"], data=form, auth=(audience, "secret")).json()[
                "id_token"
            ]
            assert isinstance(token, str)
            return token


def test_a_person_logs_in(tmp_path: Path) -> None:
    with Provider(tmp_path).serving() as provider:
        flags = [
            f"--oidc-issuer-url={provider.url}", "--oidc-client-id=kubectl", f"--oidc-ca-file={provider.authority}",
            "--oidc-username-claim=email", "--oidc-username-prefix=oidc:",
        ]  # fmt: skip
        with running(tmp_path, "--storage-backend=memory", *flags) as server:
            first = provider.log_in("jane", "kubectl")
            assert who(server, first)["username"] == "oidc:jane@example.com"
            assert who(server, provider.log_in("jane", "another-client")) == 401
            provider.restart()  # its tokens do not name the key that signed them
            second = provider.log_in("jane", "kubectl")
            until(lambda: who(server, second) != 401)
            assert who(server, second)["username"] == "oidc:jane@example.com"
            assert server.kubectl(
                f"--token={second}", "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"
            ) == "oidc:jane@example.com"  # fmt: skip
