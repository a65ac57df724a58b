"""What pages of attackers try: other names for this machine, other origins, no token, stolen or old cookies, frames, paths."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import Server
from tests.servers import running as running_server
from tests.tools.dashboard.running import Dashboard, running

pytestmark = pytest.mark.slow
Headers = dict[str, str | None]
_WEBSOCKET: Headers = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}  # fmt: skip
_PODS = "/k8s/api/v1/pods"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as server:
        yield server


def test_the_api_is_passed_through_as_the_user(dashboard: Dashboard) -> None:
    page = dashboard.log_in()
    answer = dashboard.ask("GET", _PODS, headers=page)
    assert (answer.status, answer.json["kind"]) == (200, "PodList")
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made"}}
    made = dashboard.ask("POST", "/k8s/api/v1/namespaces/default/configmaps", config, page)
    assert made.status == 201, made.text
    assert dashboard.ask("GET", "/k8s/api/v1/namespaces/default/configmaps/none", headers=page).status == 404


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:{port}", "localhost:{port}", "attacker.example:{port}", "", None]
)
def test_another_name_for_this_machine_is_refused(dashboard: Dashboard, host: str | None) -> None:
    """DNS rebinding: a page of attacker.example may ask attacker.example, which now leads to this machine."""
    page = dashboard.log_in() | {"Host": host and host.format(port=dashboard.port)}
    for method, path in (("GET", "/"), ("GET", "/session"), ("GET", _PODS), ("POST", "/session")):
        assert dashboard.ask(method, path, {}, page).status in (400, 421)


@pytest.mark.parametrize(
    ("headers", "method"),
    [
        ({"Origin": "http://attacker.example"}, "GET"),
        ({"Origin": "http://attacker.example"}, "POST"),
        ({"Origin": "null"}, "POST"),
        ({"Origin": "http://127.0.0.1:1"}, "POST"),
        ({"Origin": "https://{host}"}, "POST"),
        ({"Origin": None}, "POST"),
        ({"Sec-Fetch-Site": "cross-site"}, "GET"),
        ({"Sec-Fetch-Site": "same-site"}, "GET"),
    ],
)
def test_pages_of_others_are_refused(dashboard: Dashboard, headers: Headers, method: str) -> None:
    page = dashboard.log_in()
    page |= {name: value and value.format(host=dashboard.host) for name, value in headers.items()}
    for path in ("/session", _PODS):
        assert dashboard.ask(method, path, {}, page).status == 403


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("token", [None, "", "guess"])
def test_a_cookie_alone_is_not_enough(dashboard: Dashboard, method: str, token: str | None) -> None:
    """CSRF: the browser sends the cookie by itself, the token only our pages know."""
    page = dashboard.log_in() | {"X-Dashboard-Token": token}
    assert dashboard.ask(method, _PODS, {}, page).status == 401


def test_a_token_of_another_session_is_not_enough(dashboard: Dashboard) -> None:
    one, other = dashboard.log_in(), dashboard.log_in()
    mixed = {"Cookie": one["Cookie"], "X-Dashboard-Token": other["X-Dashboard-Token"]}
    assert dashboard.ask("GET", _PODS, headers=mixed).status == 401
    twice = one | {"Cookie": f"{one['Cookie']}; {other['Cookie']}"}
    assert dashboard.ask("GET", _PODS, headers=twice).status == 401


def test_logging_out_ends_the_session(dashboard: Dashboard) -> None:
    page = dashboard.log_in()
    assert dashboard.ask("DELETE", "/session", headers=page | {"X-Dashboard-Token": None}).status == 403
    assert dashboard.ask("DELETE", "/session", headers=page).status == 200
    assert dashboard.ask("GET", _PODS, headers=page).status == 401


def test_the_cookie_is_for_this_server_and_not_for_scripts(dashboard: Dashboard) -> None:
    answer = dashboard.ask("POST", "/session", {"token": "the-administrators-token"})
    flags = answer.headers["Set-Cookie"].split("; ")[1:]
    assert flags == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert "the-administrators-token" not in answer.text + str(answer.headers)


@pytest.mark.parametrize(
    "proof",
    [{"token": "wrong"}, {"token": ""}, {"token": "a\r\nImpersonate-User: admin"}, {"token": "ü"}, {"token": 1}, {"code": ""},
     {"code": "guess"}, {"code": "ü"}, {}, [], b"{", b"{" * 40_000],
)  # fmt: skip
def test_who_proves_nothing_is_not_logged_in(dashboard: Dashboard, proof: object) -> None:
    answer = dashboard.ask("POST", "/session", proof)
    assert answer.status in (400, 401) and "Set-Cookie" not in answer.headers


def test_a_one_time_code_works_once(server: Server) -> None:
    with running(server) as dashboard:
        assert dashboard.ask("POST", "/session", {"code": dashboard.code}).status == 200
        assert dashboard.ask("POST", "/session", {"code": dashboard.code}).status == 401


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 101),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Origin": None}, 403),
        ({"Host": "attacker.example"}, 421),
        ({"Cookie": None}, 401),
        ({"Sec-WebSocket-Protocol": "dashboard.pybernetes.v1"}, 401),
        ({"Sec-WebSocket-Protocol": "dashboard.pybernetes.v1, token.guess"}, 401),
        ({"Sec-WebSocket-Protocol": None}, 401),
    ],
)
def test_websockets_of_others_are_refused(dashboard: Dashboard, changes: Headers, status: int) -> None:
    page = dashboard.log_in()
    protocols = f"dashboard.pybernetes.v1, token.{page['X-Dashboard-Token']}"
    own = {"Origin": dashboard.origin, "Cookie": page["Cookie"], "Sec-WebSocket-Protocol": protocols}
    assert dashboard.ask("GET", "/stream", headers=_WEBSOCKET | own | changes).status == status


def test_nobody_can_frame_it_or_put_scripts_into_it(dashboard: Dashboard) -> None:
    page = dashboard.log_in()
    for path in ("/", "/main.js", "/session", _PODS, "/none"):
        headers = dashboard.ask("GET", path, headers=page).headers
        policy = headers["Content-Security-Policy"]
        assert (
            "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        )
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/pods/evil/proxy/",
        "/api/v1/namespaces/default/pods/evil/proxy/page.html",
        "/api/v1/namespaces/default/services/evil:80/proxy",
        "/api/v1/nodes/evil/proxy/logs/",
        "/api/v1/namespaces/default/serviceaccounts/default/token",
        "/api/v1/namespaces/default/pods/evil/exec",
        "/api/v1/namespaces/default/pods/x/../evil/proxy/",
        "/api/v1/namespaces/default/pods/x/%2e%2e/evil/proxy/",
        "/api/v1/namespaces/default/pods/evil%2Fproxy",
        "/api/v1/proxy/namespaces/default/pods/evil",
        "/api/v1/watch/pods",
        "/metrics",
        "/logs/",
        "//attacker.example/api",
        "/api%0d%0aX: y",
    ],
)
def test_paths_that_are_not_passed_on(dashboard: Dashboard, path: str) -> None:
    """A page that a pod serves would be a page of the dashboard's origin."""
    assert dashboard.ask("GET", "/k8s" + path.replace(" ", "%20"), headers=dashboard.log_in()).status == 403


def test_a_page_cannot_choose_whom_it_acts_for(dashboard: Dashboard) -> None:
    page = dashboard.log_in() | {"Impersonate-User": "nobody", "Authorization": "Bearer wrong"}
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = dashboard.ask("POST", "/k8s/apis/authentication.k8s.io/v1/selfsubjectreviews", review, page)
    assert answer.json["status"]["userInfo"]["username"] == "admin"


@pytest.mark.parametrize(
    "path", ["/../application.py", "/%2e%2e/application.py", "/views/../../guard.py", "/views"]
)
def test_files_beside_the_pages_are_not_served(dashboard: Dashboard, path: str) -> None:
    assert dashboard.ask("GET", path).status == 404


@pytest.mark.parametrize(
    "query", ["watch=true", "watch=1", "watch", "watch=", "watch=x", "follow", "%77atch"]
)
def test_watches_do_not_come_as_answers(dashboard: Dashboard, query: str) -> None:
    assert dashboard.ask("GET", f"{_PODS}?{query}", headers=dashboard.log_in()).status == 400


@pytest.mark.parametrize("query", ["", "watch=false", "watch=0"])
def test_what_is_no_watch_is_answered(dashboard: Dashboard, query: str) -> None:
    assert dashboard.ask("GET", f"{_PODS}?{query}", headers=dashboard.log_in()).status == 200


@pytest.mark.parametrize("context", ["other", "%2e%2e", "test%00", "%ff", "x" * 5000])
def test_a_token_is_for_one_cluster(dashboard: Dashboard, context: str) -> None:
    page = dashboard.log_in()
    assert dashboard.ask("GET", _PODS, headers=page | {"X-Dashboard-Context": "test"}).status == 200
    assert dashboard.ask("GET", _PODS, headers=page | {"X-Dashboard-Context": context}).status == 404
    assert dashboard.ask("GET", f"/session?context={context}", headers=page).status == 404
    protocols = f"dashboard.pybernetes.v1, token.{page['X-Dashboard-Token']}"
    own = {"Origin": dashboard.origin, "Cookie": page["Cookie"], "Sec-WebSocket-Protocol": protocols}
    assert dashboard.ask("GET", f"/stream?context={context}", headers=_WEBSOCKET | own).status == 404
