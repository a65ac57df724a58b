"""Tokens that live in secrets."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.authn.authenticator import InvalidCredentials
from pybernetes.control_plane.apiserver.authn.service_accounts import legacy_tokens
from pybernetes.control_plane.apiserver.authn.service_accounts.legacy_tokens import LegacyClaims

TOKEN = b"the.token.itself"
PREFIX = "kubernetes.io/serviceaccount/"
CLAIMS = {
    "sub": "system:serviceaccount:default:robot",
    f"{PREFIX}namespace": "default",
    f"{PREFIX}secret.name": "s",
    f"{PREFIX}service-account.name": "robot",
    f"{PREFIX}service-account.uid": "u",
}


def secret(**metadata: Any) -> dict[str, Any]:
    return {"metadata": metadata, "data": {"token": base64.b64encode(TOKEN).decode()}}


def account(uid: str = "u", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"uid": uid, **metadata}}


def judge(found_secret: Any, found_account: Any, token: bytes = TOKEN) -> tuple[str, ...]:
    objects = {"secrets": found_secret, "serviceaccounts": found_account}
    return LegacyClaims(CLAIMS).judge(token, lambda plural, namespace, name: objects[plural])


def test_a_token_that_holds() -> None:
    assert judge(secret(), account()) == ()
    user = LegacyClaims(CLAIMS).user()
    assert (user.name, user.uid, user.extra) == ("system:serviceaccount:default:robot", "u", {})


def test_one_that_was_made_without_asking_is_warned_about() -> None:
    assert judge(secret(), {**account(), "secrets": [{"name": "s"}]}) == (legacy_tokens.GENERATED,)


GOING = {"deletionTimestamp": "2023-01-01T00:00:00Z"}


@pytest.mark.parametrize(
    ("found_secret", "found_account", "token", "problem"),
    [
        (None, account(), TOKEN, "Token has been invalidated"),
        (secret(**GOING), account(), TOKEN, "Token has been invalidated"),
        (secret(), account(), b"another", "Token does not match server's copy"),
        ({"metadata": {}}, account(), TOKEN, "Token does not match server's copy"),
        (secret(), None, TOKEN, 'serviceaccounts "robot" not found'),
        (secret(), account(**GOING), TOKEN, "ServiceAccount default/robot has been deleted"),
        (secret(), account("x"), TOKEN, "ServiceAccount UID (x) does not match claim (u)"),
        (
            secret(labels={legacy_tokens.INVALID_SINCE: "2023-01-01"}),
            account(),
            TOKEN,
            "has been marked invalid",
        ),
    ],
)
def test_tokens_that_do_not(found_secret: Any, found_account: Any, token: bytes, problem: str) -> None:
    with pytest.raises(InvalidCredentials, match=problem.replace("(", r"\(").replace(")", r"\)")):
        judge(found_secret, found_account, token)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"sub": None}, "sub claim is missing"),
        ({"sub": "system:serviceaccount:default:other"}, "sub claim is invalid"),
        ({"sub": "bob"}, "sub claim is invalid"),
        ({"sub": ["x"]}, "sub claim is invalid"),
        ({f"{PREFIX}namespace": ""}, "namespace claim is missing"),
        ({f"{PREFIX}secret.name": None}, "secretName claim is missing"),
        ({f"{PREFIX}service-account.name": 5}, "serviceAccountName claim is missing"),
        ({f"{PREFIX}service-account.uid": ""}, "serviceAccountUID claim is missing"),
    ],
)
def test_claims_that_must_be_there(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidCredentials) as refused:
        LegacyClaims({**CLAIMS, **change})
    assert str(refused.value) == problem


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, "2023-11-14"),
        ({legacy_tokens.LAST_USED: "2023-11-13"}, "2023-11-14"),
        ({legacy_tokens.LAST_USED: "2023-11-14"}, ""),
        ({legacy_tokens.LAST_USED: "2023-11-15"}, ""),
    ],
)
def test_use_is_noted_once_a_day(labels: dict[str, str], expected: str) -> None:
    assert legacy_tokens.use_to_note(secret(labels=labels), 1_700_000_000) == expected
