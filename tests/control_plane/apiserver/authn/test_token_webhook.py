"""Tokens that another server knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.authn.authenticator import InvalidCredentials
from pybernetes.control_plane.apiserver.authn.authenticators.token_webhook import answer
from pybernetes.control_plane.apiserver.review_webhooks.reviewer import ReviewFailed
from tests.control_plane.apiserver.review_webhooks.review_server import reviewing
from tests.servers import running

USER = {"username": "jane", "uid": "1", "groups": ["dev"], "extra": {"scopes": ["a", "b"]}}


@pytest.mark.parametrize(
    "status",
    [
        {"authenticated": True, "user": []},
        {"authenticated": True, "user": {"username": 1}},
        {"authenticated": True, "user": {"username": "a", "groups": "dev"}},
        {"authenticated": True, "user": {"username": "a", "groups": [1]}},
        {"authenticated": True, "user": {"username": "a", "extra": {"a": "b"}}},
        {"authenticated": True, "user": USER, "audiences": "api"},
    ],
)
def test_answers_that_make_no_sense(status: dict[str, Any]) -> None:
    with pytest.raises(ReviewFailed):
        answer(status, ("api",), ("api",))


def test_answers() -> None:
    known = answer({"authenticated": True, "user": USER}, ("api",), ("api", "other"))
    assert known is not None and known.user.name == "jane" and known.audiences == ("api",)
    assert known.user.groups == ("dev", "system:authenticated") and known.user.extra == {"scopes": ("a", "b")}
    assert answer({"authenticated": True, "user": USER, "audiences": ["other"]}, ("api",), ("api",)) is None
    assert answer({"authenticated": False}, ("api",), ("api",)) is None
    assert answer({"authenticated": "true", "user": USER}, ("api",), ("api",)) is None, "a text is no yes"
    with pytest.raises(InvalidCredentials, match="expired"):
        answer({"authenticated": False, "error": "expired"}, ("api",), ("api",))


def test_a_server_that_asks(tmp_path: Path) -> None:
    def know(review: dict[str, Any]) -> dict[str, Any] | tuple[int, bytes]:
        token = review["spec"]["token"]
        if token == "large":
            return 200, b"[" * 4_000_000
        return {"authenticated": True, "user": USER} if token == "good" else {"authenticated": False}

    with reviewing(tmp_path, know) as reviews:
        flags = [
            f"--authentication-token-webhook-config-file={reviews.kubeconfig}",
            "--authentication-token-webhook-version=v1",
        ]
        with running(tmp_path, "--storage-backend=memory", *flags) as server:
            path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
            body = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
            for _ in range(2):
                status, review = server.call("POST", path, body, token="good")
                assert status == 201 and review["status"]["userInfo"]["username"] == "jane"
            assert len(reviews.asked) == 1 and reviews.asked[0]["apiVersion"] == "authentication.k8s.io/v1"
            assert server.call("POST", path, body, token="bad")[0] == 401
            assert server.call("POST", path, body, token="large")[0] == 401
