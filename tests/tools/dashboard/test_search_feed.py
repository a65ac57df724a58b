"""The search against a real API server: what comes and goes is found or not, and a user finds what he may read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

import pytest

from pybernetes.client import kubeconfig
from pybernetes.client.errors import StatusError
from pybernetes.client.rest_transport import RestTransport
from pybernetes.tools.dashboard.search_feed import SearchFeed
from pybernetes.tools.dashboard.user import User, with_token
from pybernetes.tools.dashboard.users import NotAccepted, Users
from tests.servers import Server
from tests.servers import running as running_server
from tests.support import eventually

_RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server"), "--authorization-mode=RBAC") as server:
        yield server


def _names(feed: SearchFeed, text: str) -> list[str]:
    return [f"{hit.key.resource}/{hit.key.name}" for hit in feed.index.search(text)]


async def test_what_comes_and_goes_is_found_or_not(server: Server) -> None:
    user = User(kubeconfig.load(server.kubeconfig))
    try:
        user.search.start()
        await eventually(lambda: user.search.ready)
        secret = {
            "metadata": {"name": "vault", "labels": {"kept": "well"}},
            "stringData": {"password": "open-sesame"},
        }
        server.make("/api/v1/namespaces/default/secrets", secret)
        await eventually(lambda: _names(user.search, "kept=well") == ["secrets/vault"])
        assert _names(user.search, "sesame") == []
        server.call("DELETE", "/api/v1/namespaces/default/secrets/vault")
        await eventually(lambda: _names(user.search, "kept=well") == [])
        assert user.search.unread == []
    finally:
        await user.close()


async def test_a_user_of_one_namespace_finds_what_he_may_read(server: Server) -> None:
    for namespace in ("default", "other"):
        if namespace == "other":
            server.make("/api/v1/namespaces", {"metadata": {"name": namespace}})
        server.make(
            f"/api/v1/namespaces/{namespace}/configmaps",
            {"metadata": {"name": f"common-{namespace}"}},
        )
    server.make("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "reader"}})
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}
    server.make(f"{_RBAC}/namespaces/default/roles", {"metadata": {"name": "reader"}, "rules": [rule]})
    binding = {
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "default"}],
    }
    server.make(f"{_RBAC}/namespaces/default/rolebindings", binding)
    token = server.make("/api/v1/namespaces/default/serviceaccounts/reader/token", {"spec": {}})["status"][
        "token"
    ]
    user = with_token(kubeconfig.load(server.kubeconfig), token)
    try:
        await user.check()
        assert user.name == "system:serviceaccount:default:reader"
        user.search.start()
        await eventually(lambda: user.search.ready)
        assert _names(user.search, "common") == ["configmaps/common-default"]
        assert "secrets" in user.search.unread and "configmaps" not in user.search.unread
    finally:
        await user.close()


async def test_who_may_read_something_no_more_finds_nothing_of_it(server: Server) -> None:
    """What was read while he might is not his to search any more, in the whole cluster or in his namespace."""
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    server.make(accounts, {"metadata": {"name": "leaver"}})
    server.make("/api/v1/namespaces/kube-system/configmaps", {"metadata": {"name": "plans-far"}})
    server.make("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "plans-near"}})
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}
    server.make(f"{_RBAC}/clusterroles", {"metadata": {"name": "leaver"}, "rules": [rule]})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "leaver"}
    subjects = [{"kind": "ServiceAccount", "name": "leaver", "namespace": "default"}]
    for path in (f"{_RBAC}/clusterrolebindings", f"{_RBAC}/namespaces/default/rolebindings"):
        server.make(path, {"metadata": {"name": "leaver"}, "roleRef": role, "subjects": subjects})
    token = server.make(f"{accounts}/leaver/token", {"spec": {}})["status"]["token"]
    users = Users(kubeconfig.load(server.kubeconfig))
    try:
        user = await users.of_token(token)
        near, far = "configmaps/plans-near", "configmaps/plans-far"
        await eventually(lambda: sorted(_names(user.search, "plans")) == [far, near])
        server.call("DELETE", f"{_RBAC}/clusterrolebindings/leaver")
        await _watches_end_when(user, lambda: _may_list(user, ""))
        await eventually(lambda: _names(user.search, "plans") == [near])
        server.call("DELETE", f"{_RBAC}/namespaces/default/rolebindings/leaver")
        await _watches_end_when(user, lambda: _may_list(user, "default"))
        await eventually(lambda: _names(user.search, "plans") == [])
        await eventually(lambda: "configmaps" in user.search.unread)
        # Who logs in again is asked for anew.
        binding = {"metadata": {"name": "leaver"}, "roleRef": role, "subjects": subjects}
        server.make(f"{_RBAC}/clusterrolebindings", binding)
        assert await users.of_token(token) is user
        await eventually(lambda: sorted(_names(user.search, "plans")) == [far, near])
        # A token that is taken back is told from a server that is away.
        await users.still(user)
        server.call("DELETE", f"{accounts}/leaver")
        await _watches_end_when(user, lambda: _is_known(user))
        await eventually(lambda: _names(user.search, "plans") == [])
        with pytest.raises(NotAccepted, match="does not accept this user any more"):
            await users.still(user)
    finally:
        await users.close()


async def _may_list(user: User, namespace: str) -> bool:
    attributes = {"verb": "list", "resource": "configmaps", "namespace": namespace}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    return bool((await user.client.call("POST", path, body=review))["status"]["allowed"])


async def _is_known(user: User) -> bool:
    try:
        await user.check()
    except StatusError:
        return False
    return True


async def _watches_end_when(user: User, allowed: Callable[[], Awaitable[bool]]) -> None:
    """Wait until something is allowed no more, and end the watches, which would go on until their time is over."""

    async def refused() -> bool:
        return not await allowed()

    await eventually(refused)
    transport = user.client.transport
    assert isinstance(transport, RestTransport)
    transport._pool.close()
    transport._pool.closed = False


async def test_kinds_that_come_and_go_are_searched_and_forgotten(server: Server) -> None:
    user = User(kubeconfig.load(server.kubeconfig))
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
    names = {"plural": "ships", "singular": "ship", "kind": "Ship"}
    definition = {
        "metadata": {"name": "ships.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]},
    }
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    path = "/apis/example.com/v1/namespaces/default/ships"
    ship = {"apiVersion": "example.com/v1", "kind": "Ship", "metadata": {"name": "endurance"}}
    try:
        user.search.start()
        await eventually(lambda: user.search.ready)
        server.make(definitions, definition)
        await eventually(lambda: server.call("GET", path)[0] == 200)
        server.make(path, ship)
        await eventually(lambda: _names(user.search, "endurance") == ["ships.example.com/endurance"])
        server.call("DELETE", f"{definitions}/ships.example.com")
        await eventually(lambda: _names(user.search, "endurance") == [])
    finally:
        await user.close()
