"""Authorization as a client meets it: every verb on every kind, and every spelling of a path."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.discovery.subresource_kinds import of as subresources_of
from tests.control_plane.apiserver.authz.users import As
from tests.servers import Server

METHODS = {
    "get": "GET", "list": "GET", "watch": "GET", "create": "POST", "update": "PUT", "patch": "PATCH",
    "delete": "DELETE", "deletecollection": "DELETE",
}  # fmt: skip


def every_verb_of_every_kind() -> Iterator[tuple[str, str, str, str, str, str, str]]:
    """Yield verb, group, version, resource, namespace, name, subresource."""
    for resource in builtin():
        namespace = "one" if resource.namespaced else ""
        for verb in resource.verbs:
            name = "thing" if verb in ("get", "update", "patch", "delete") else ""
            yield verb, resource.group, resource.version, resource.plural, namespace, name, ""
            if namespace and verb in ("list", "watch"):
                yield verb, resource.group, resource.version, resource.plural, "", "", ""
        for subresource in subresources_of(resource):
            for verb in subresource.verbs:
                yield (
                    verb,
                    resource.group,
                    resource.version,
                    resource.plural,
                    namespace,
                    "thing",
                    subresource.name,
                )


def test_a_user_without_rights_is_refused_every_verb_on_every_kind(nobody: As) -> None:
    granted = {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "selfsubjectreviews"}
    count = 0
    for verb, group, version, plural, namespace, name, subresource in every_verb_of_every_kind():
        if plural in granted:
            continue
        count += 1
        start = f"/apis/{group}/{version}" if group else f"/api/{version}"
        middle = f"/namespaces/{namespace}" if namespace else ""
        path = start + middle + "/" + "/".join(filter(None, (plural, name, subresource)))
        if plural == "namespaces" and name:
            namespace = name
        status, answer = nobody(METHODS[verb], path + ("?watch=1" if verb == "watch" else ""), None)
        qualified = f"{plural}.{group}" if group else plural
        whole = f"{plural}/{subresource}" if subresource else plural
        where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        assert (status, answer["message"]) == (403, (
            f"{qualified} {f'{chr(34)}{name}{chr(34)} ' if name else ''}is forbidden: "
            f'User "nobody" cannot {verb} resource "{whole}" in API group "{group}" {where}'
        )), path  # fmt: skip
        details = {"name": name, "group": group, "kind": plural}
        assert answer["details"] == {key: value for key, value in details.items() if value}
        assert answer["reason"] == "Forbidden"
    assert count > 500


TRICKS = [
    "/api/v1/namespaces/kube-system/secrets", "/api/v1/namespaces/kube-system/secrets/", "/api/v1/namespaces/kube-system/secrets//",
    "/api/v1/namespaces//secrets", "/api/v1//secrets", "//api/v1/secrets", "///api/v1/secrets", "/api//v1/secrets",
    "/api/v1/namespaces/kube-system//secrets", "/api/v1/namespaces/kube-system/secrets//x", "/api/v1/SECRETS", "/api/V1/secrets",
    "/api/v1/%73ecrets", "/api/v1/s%65crets", "/api%2Fv1%2Fsecrets", "/api/v1%2fsecrets", "/%61pi/v1/secrets", "/api/v1/./secrets",
    "/api/v1/%2e/secrets", "/api/v1/../v1/secrets", "/api/v1/%2e%2e/v1/secrets", "/api/v1/namespaces/a/%2e%2e/kube-system/secrets",
    "/api/v1/namespaces/a/../kube-system/secrets", "/api/v1/namespaces/a%2F..%2Fkube-system/secrets",
    "/api/v1/namespaces/kube-system%2fsecrets", "/api/v1/namespaces/kube-system/secrets%00", "/api/v1/namespaces/kube-system/secrets/x/",
    "/api/v1/namespaces/kube-system/secrets/x/status", "/api/v1/namespaces/kube-system/secrets/x/unknown",
    "/api/v1/namespaces/kube-system/secrets/x/unknown/more", "/api/v1/watch/secrets", "/api/v1/watch/namespaces/kube-system/secrets/x",
    "/api/v1/proxy/nodes/n1", "/api/v1/secrets?watch=true", "/api/v1/secrets?watch=", "/api/v1/secrets?fieldSelector=metadata.name%3Dx",
    "/api/v1/secrets;x=y", "/api/v1/secrets%3Fwatch=1", "/api/v1/secrets%23", "/apis//v1/secrets", "/apis/%20/v1/secrets",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/", "/apis/RBAC.authorization.k8s.io/v1/clusterroles",
    "/apis/apps/v1/namespaces/kube-system/deployments/x/scale/", "/METRICS", "/metrics/", "/metrics", "//metrics", "/./metrics",
    "/healthz/", "/healthz/ping", "/Healthz", "/readyz/etcd", "//healthz", "/healthz/../metrics", "/healthz/%2e%2e/metrics", "/",
    "/logs", "/logs/", "/debug/pprof", "/swaggerapi", "/api/v1/nodes/n1/proxy/../../secrets",
]  # fmt: skip


@pytest.mark.parametrize("who", ["nobody", ""])
def test_no_spelling_of_a_path_gets_past_authorization(server: Server, who: str) -> None:
    user = As(server, who)
    for path in TRICKS:
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"):
            status, answer = user(method, path, None if method in ("GET", "HEAD") else {})
            assert status == 403, (method, path, status, answer)


def test_odd_spellings_reach_nothing_for_those_who_may_everything(admin: As) -> None:
    """What authorization and routing could read differently is not served at all."""
    for path in ("//api/v1/secrets", "/api/v1//secrets", "/apis//v1/secrets", "/api/v1/../v1/secrets", "/api/V1/secrets",
                 "/api/v1/namespaces/kube-system/secrets//x", "/api/v1/namespaces/a/%2e%2e/kube-system/secrets", "//version",
                 "/healthz/../metrics", "/api/v1/namespaces/default/pods//log"):  # fmt: skip
        assert admin("GET", path)[0] == 404, path


def test_discovery_and_health_are_for_everybody_who_may(server: Server, nobody: As) -> None:
    stranger = As(server, "")
    for path in ("/healthz", "/livez", "/readyz", "/version", "/version/"):
        assert stranger("GET", path)[0] == nobody("GET", path)[0] == 200, path
    for path in ("/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/openapi/v2", "/openapi/v3"):
        status, answer = stranger("GET", path)
        assert (status, answer["message"]) == (
            403,
            f'forbidden: User "system:anonymous" cannot get path "{path}"',
        )
        assert answer["details"] == {}
        assert nobody("GET", path)[0] == 200, path
    assert "[+]poststarthook/rbac/bootstrap-roles ok" in stranger("GET", "/readyz?verbose")[1]
