"""Log-in at an OpenID provider that is not ours, in a real browser, and what attackers try with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.control_plane.apiserver.authn.jwt.test_real_provider import Provider
from tests.servers import Server
from tests.servers import running as running_server
from tests.tools.dashboard.running import Dashboard, running

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
_NAVIGATION: dict[str, str | None] = {
    "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
}  # fmt: skip


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    with Provider(tmp_path_factory.mktemp("provider")).serving() as provider:
        yield provider


@pytest.fixture(scope="module")
def server(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    flags = [
        f"--oidc-issuer-url={provider.url}", "--oidc-client-id=dashboard", f"--oidc-ca-file={provider.authority}",
        "--oidc-username-claim=email", "--oidc-username-prefix=oidc:",
    ]  # fmt: skip
    with running_server(tmp_path_factory.mktemp("server"), *flags) as server:
        yield server


@pytest.fixture(scope="module")
def dashboard(
    server: Server, provider: Provider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Dashboard]:
    secret: Path = tmp_path_factory.mktemp("secret") / "secret"
    secret.write_text("s3cret\n")
    flags = (
        "--host=dashboard.localhost", f"--oidc-issuer-url={provider.url}", "--oidc-client-id=dashboard",
        f"--oidc-client-secret-file={secret}", f"--oidc-ca-file={provider.authority}",
    )  # fmt: skip
    with running(server, None, *flags) as dashboard:
        yield dashboard


def test_a_person_logs_in_at_the_provider(browser: Any, dashboard: Dashboard, server: Server) -> None:
    context = browser.new_context(
        ignore_https_errors=True
    )  # the provider's authority is not one of the browser's
    page = context.new_page()
    page.set_default_timeout(120_000)
    seen: list[str] = []
    page.on("request", lambda request: seen.append(f"{request.url} {request.headers} {request.post_data}"))
    page.goto(dashboard.origin)
    page.click("#provider")
    page.wait_for_selector("input[name=sub]")
    page.fill("input[name=sub]", "jane")
    page.click("button:has-text('Authorize'), input[type=submit]")
    page.wait_for_selector("text=oidc:jane@example.com @ test")
    assert page.url == f"{dashboard.origin}/#/list/pods" or page.url.startswith(f"{dashboard.origin}/#/")
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    # The ID token is between the dashboard, the provider and the API server: no browser ever has it.
    assert not any("eyJ" in text for text in seen)
    page.reload()
    page.wait_for_selector("text=oidc:jane@example.com @ test")
    # Who says no at the provider gets its words, as text.
    page.click("text=Log out")
    page.wait_for_selector("#provider")
    page.goto(f"{dashboard.origin}/oidc?error=access_denied&error_description=%3Cb%3Eno%3C/b%3E")
    page.wait_for_selector(".problem >> text=<b>no</b>")
    assert "oidc" not in page.url
    context.close()
    log = (server.directory / "dashboard-log").read_text()
    assert "eyJ" not in log and "s3cret" not in log


def _begin(dashboard: Dashboard) -> tuple[str, dict[str, list[str]]]:
    """Begin a log-in; return the cookie, and what the provider is asked with."""
    answer = dashboard.ask("POST", "/log-in")
    assert answer.status == 200, answer.text
    cookie, *flags = answer.headers["Set-Cookie"].split("; ")
    assert flags == ["Path=/", "HttpOnly", "SameSite=Strict"]
    return cookie, parse_qs(urlsplit(answer.json["address"]).query)


def test_what_the_provider_is_asked(dashboard: Dashboard) -> None:
    _, asked = _begin(dashboard)
    assert asked["redirect_uri"] == [f"{dashboard.origin}/oidc"] and asked["code_challenge_method"] == [
        "S256"
    ]
    assert asked["scope"] == ["openid email profile groups offline_access"]
    _, again = _begin(dashboard)
    assert all(asked[name] != again[name] for name in ("state", "nonce", "code_challenge"))


def test_others_cannot_end_a_log_in_or_begin_one_for_somebody(dashboard: Dashboard) -> None:
    cookie, asked = _begin(dashboard)
    (state,) = asked["state"]
    other, _ = _begin(dashboard)
    proof = {"state": state, "authorization": "guess"}
    # An attacker's link leads another browser back: it has no cookie of that log-in, or one of another.
    for brought in (None, other, "pyb-dashboard-log-in="):
        answer = dashboard.ask("POST", "/session", proof, {"Cookie": brought})
        assert answer.status == 401 and "was not begun here" in answer.text
    for origin in ("http://attacker.example", None):
        assert dashboard.ask("POST", "/log-in", headers={"Origin": origin}).status == 403
        assert dashboard.ask("POST", "/session", proof, {"Cookie": cookie, "Origin": origin}).status == 403
    # The provider does not know the code, and the log-in is over with that.
    answer = dashboard.ask("POST", "/session", proof, {"Cookie": cookie})
    assert answer.status == 401 and "the provider refuses" in answer.text
    assert "was not begun here" in dashboard.ask("POST", "/session", proof, {"Cookie": cookie}).text


def test_only_a_browser_that_goes_there_gets_the_entrance(dashboard: Dashboard) -> None:
    for path in ("/oidc?code=a&state=b", "/", "/?lang=ja"):  # by a link of a wiki or a chat, too
        assert dashboard.ask("GET", path, headers=_NAVIGATION).status == 200
        for name, value in (
            ("Sec-Fetch-Mode", "cors"),
            ("Sec-Fetch-Mode", "no-cors"),
            ("Sec-Fetch-Dest", "iframe"),
            ("Sec-Fetch-Dest", "object"),
            ("Origin", "http://attacker.example"),
        ):
            assert dashboard.ask("GET", path, headers={**_NAVIGATION, name: value}).status == 403
    for path in ("/main.js", "/index.html", "/session", "/k8s/api/v1/pods", "/log-in"):
        assert dashboard.ask("GET", path, headers=_NAVIGATION).status == 403
    answer = dashboard.ask("GET", "/oidc?code=a", headers=_NAVIGATION)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
