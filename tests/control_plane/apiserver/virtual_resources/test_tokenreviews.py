"""Token reviews of a running server."""

from __future__ import annotations

import time
from typing import Any

from tests.control_plane.apiserver.authn.credentials import (
    ISSUER,
    ROBOTS,
    TOKEN_REVIEW,
    World,
)


def review(world: World, **spec: Any) -> Any:
    status, answer = world.server.call("POST", TOKEN_REVIEW, {"spec": spec})
    assert status == 201, answer
    return answer["status"]


def test_token_reviews(world: World) -> None:
    token = world.token("robot", audiences=["vault", ISSUER])
    reviewed = review(world, token=token)
    assert reviewed["authenticated"] and reviewed["audiences"] == [ISSUER]
    assert (
        reviewed["user"]["username"] == "system:serviceaccount:default:robot"
        and reviewed["user"]["groups"] == ROBOTS
    )
    assert review(world, token=token, audiences=["vault", "x"])["audiences"] == ["vault"]
    problem = f'[invalid bearer token, token audiences ["vault" "{ISSUER}"] is invalid for the target audiences ["x"]]'
    assert review(world, token=token, audiences=["x"]) == {"user": {}, "error": problem}
    assert review(world, token="nope") == {"user": {}, "error": "invalid bearer token"}
    expired = world.forge(token, exp=int(time.time()) - 100)
    problem = "[invalid bearer token, service account token has expired]"
    assert review(world, token=expired) == {"user": {}, "error": problem}
    status, answer = world.server.call("POST", TOKEN_REVIEW, {"spec": {}})
    assert (status, answer["message"]) == (400, "token is required for TokenReview in authentication")
