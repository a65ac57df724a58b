"""Grants on a running server: by name, selector and subresource."""

from __future__ import annotations

from tests.control_plane.apiserver.authz.users import RBAC, As, grant
from tests.servers import Server


def test_grants_by_name_selector_and_subresource(server: Server, admin: As) -> None:
    nobody = As(server, "nobody")
    secrets = {
        "verbs": ["get", "list", "watch"],
        "apiGroups": [""],
        "resources": ["secrets"],
        "resourceNames": ["mine"],
    }
    scales = {"verbs": ["get"], "apiGroups": ["*"], "resources": ["*/scale"]}
    group = {"kind": "Group", "name": "strangers"}
    grant(admin, "few", secrets, scales, {"verbs": ["get"], "nonResourceURLs": ["/metrics"]}, to=group)
    try:
        base = "/api/v1/namespaces/default/secrets"
        assert nobody("GET", f"{base}/mine")[0] == 404
        assert nobody("GET", f"{base}/yours")[0] == 403
        assert nobody("GET", base)[0] == 403
        assert nobody("GET", f"{base}?fieldSelector=metadata.name%3Dmine")[0] == 200
        status, answer = nobody("GET", f"{base}?fieldSelector=metadata.name%3Dyours")
        assert status == 403 and answer["message"].startswith('secrets "yours" is forbidden: ')
        assert nobody("GET", f"{base}?fieldSelector=metadata.name!%3Dmine")[0] == 403
        assert nobody("DELETE", f"{base}?fieldSelector=metadata.name%3Dmine")[0] == 403
        assert nobody("GET", "/apis/apps/v1/namespaces/default/deployments/d/scale")[0] == 404
        assert nobody("GET", "/apis/apps/v1/namespaces/default/deployments/d")[0] == 403
        assert nobody("GET", "/metrics")[0] == 200
    finally:
        admin("DELETE", f"{RBAC}/clusterroles/few")
    status, answer = nobody("GET", "/metrics")
    assert (status, answer["message"]) == (403, (
        'forbidden: User "nobody" cannot get path "/metrics": rbac: RBAC: clusterrole.rbac.authorization.k8s.io "few" not found'
    ))  # fmt: skip
    admin("DELETE", f"{RBAC}/clusterrolebindings/few")
    assert nobody("GET", "/metrics")[1]["message"] == 'forbidden: User "nobody" cannot get path "/metrics"'
