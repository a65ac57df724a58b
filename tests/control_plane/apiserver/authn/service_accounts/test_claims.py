"""Tables of what tokens say, with the answers that Kubernetes gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.apiserver.authn.authenticator import InvalidCredentials
from pybernetes.control_plane.apiserver.authn.service_accounts import claims as bound
from pybernetes.control_plane.apiserver.authn.service_accounts.claims import FOREVER, Reference

NOW = 1_700_000_000.0
PAST, RECENT, SOON = "2023-11-14T22:00:00Z", "2023-11-14T22:12:30Z", "2023-11-14T22:14:00Z"
RECENT_SECONDS, SOON_SECONDS = 1_699_999_950.0, 1_700_000_040.0


def obj(uid: str, deletion: str = "") -> dict[str, Any]:
    return {"metadata": {"uid": uid, **({"deletionTimestamp": deletion} if deletion else {})}}


OBJECTS = {
    ("serviceaccounts", "default", "robot"): obj("u"),
    ("serviceaccounts", "default", "going"): obj("u", RECENT),
    ("serviceaccounts", "default", "gone"): obj("u", PAST),
    ("pods", "default", "p"): obj("pu"),
    ("pods", "default", "going"): obj("pu", SOON),
    ("pods", "default", "gone"): obj("pu", PAST),
    ("secrets", "default", "s"): obj("su"),
    ("nodes", "", "n"): obj("nu"),
}


def lookup(plural: str, namespace: str, name: str) -> dict[str, Any] | None:
    return OBJECTS.get((plural, namespace, name))


def token(account: str = "robot", uid: str = "u", /, **more: Any) -> dict[str, Any]:
    private = {
        "namespace": "default",
        "serviceaccount": {"name": account, "uid": uid},
        **more.pop("bound", {}),
    }
    base = {"aud": ["api"], "exp": NOW + 3600, "iat": NOW, "nbf": NOW, "jti": "j", "kubernetes.io": private}
    return {key: value for key, value in {**base, **more}.items() if value is not None}


def judged(claims: dict[str, Any]) -> tuple[bound.User, float]:
    return bound.judge(bound.read(claims), lookup, NOW)


CREDENTIAL = {"authentication.kubernetes.io/credential-id": ("JTI=j",)}
POD = {"authentication.kubernetes.io/pod-name": ("p",), "authentication.kubernetes.io/pod-uid": ("pu",)}
NODE = {"authentication.kubernetes.io/node-name": ("n",), "authentication.kubernetes.io/node-uid": ("nu",)}


@pytest.mark.parametrize(
    ("claims", "extra", "until"),
    [
        (token(), CREDENTIAL, NOW + 3660),
        (token(exp=None), CREDENTIAL, FOREVER),
        (token(exp=NOW - 59), CREDENTIAL, NOW + 1),
        (token(jti=None), {}, NOW + 3660),
        (token("going"), CREDENTIAL, RECENT_SECONDS + 60),
        (token(bound={"pod": {"name": "p", "uid": "pu"}}), CREDENTIAL | POD, NOW + 3660),
        (
            token(bound={"pod": {"name": "p", "uid": "pu"}, "node": {"name": "n", "uid": "nu"}}),
            CREDENTIAL | NODE | POD,
            NOW + 3660,
        ),
        # The node of a pod is told, not checked.
        (
            token(bound={"pod": {"name": "p", "uid": "pu"}, "node": {"name": "elsewhere"}}),
            CREDENTIAL | {"authentication.kubernetes.io/node-name": ("elsewhere",)} | POD,
            NOW + 3660,
        ),
        (token(bound={"secret": {"name": "s", "uid": "su"}}), CREDENTIAL, NOW + 3660),
        (token(bound={"node": {"name": "n", "uid": "nu"}}), CREDENTIAL | NODE, NOW + 3660),
        (token(bound={"warnafter": NOW - 5}), CREDENTIAL, NOW + 3660),
        (token(aud="api", sub="someone:else"), CREDENTIAL, NOW + 3660),
    ],
)
def test_good_tokens(claims: dict[str, Any], extra: dict[str, Any], until: float) -> None:
    user, limit = judged(claims)
    account = claims["kubernetes.io"]["serviceaccount"]["name"]
    assert user.name == f"system:serviceaccount:default:{account}" and user.uid == "u"
    groups = ("system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated")
    assert user.groups == groups
    assert (user.extra, limit) == (extra, until)


def test_a_pod_that_is_going_keeps_its_token_for_a_while() -> None:
    assert judged(token(bound={"pod": {"name": "going", "uid": "pu"}}))[1] == SOON_SECONDS + 60


GONE = "service account token has been invalidated"


@pytest.mark.parametrize(
    ("claims", "problem"),
    [
        (token(exp=NOW - 61), "service account token has expired"),
        (token(nbf=NOW + 61), "service account token is not valid yet"),
        (token(iat=NOW + 61), "service account token is issued in the future"),
        (token("nobody"), 'serviceaccounts "nobody" not found'),
        (token("robot", "x"), "service account UID (u) does not match claim (x)"),
        (token("gone"), "service account default/gone has been deleted"),
        (token(bound={"pod": {"name": "q", "uid": "pu"}}), GONE),
        (token(bound={"pod": {"name": "gone", "uid": "pu"}}), GONE),
        (
            token(bound={"pod": {"name": "p", "uid": "x"}}),
            "pod UID (pu) does not match service account pod ref claim (x)",
        ),
        (token(bound={"secret": {"name": "t", "uid": "su"}}), GONE),
        (
            token(bound={"secret": {"name": "s", "uid": "x"}}),
            "secret UID (su) does not match service account secret ref claim (x)",
        ),
        (token(bound={"node": {"name": "m", "uid": "nu"}}), GONE),
        (
            token(bound={"node": {"name": "n", "uid": "x"}}),
            "node UID (nu) does not match service account node ref claim (x)",
        ),
        (
            token(bound={"mutatingwebhookconfiguration": {"name": "w", "uid": "x"}}),
            'feature gate "APIServerWebhookAuthenticationToken" is disabled, but token is webhook bound',
        ),
        (token(**{"kubernetes.io": None}), "resource name may not be empty"),
        (token(**{"kubernetes.io": "x"}), "malformed claim: kubernetes.io"),
        (token(exp="x"), "expected number value to unmarshal NumericDate"),
        (token(exp=True), "expected number value to unmarshal NumericDate"),
        (token(aud=[1]), "malformed claim: aud"),
        (token(bound={"pod": []}), "malformed claim: pod"),
        (token(bound={"pod": {"name": 1}}), "malformed claim: name"),
    ],
)
def test_bad_tokens(claims: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidCredentials) as refused:
        judged(claims)
    assert str(refused.value) == problem


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
NAMES = ("aud", "exp", "iat", "nbf", "jti", "kubernetes.io")
PRIVATE = ("namespace", "serviceaccount", "pod", "secret", "node", "warnafter")


@given(
    st.dictionaries(st.sampled_from(NAMES), JSON, max_size=6),
    st.none() | st.dictionaries(st.sampled_from(PRIVATE), JSON, max_size=6),
)
def test_whatever_is_claimed_is_judged_or_refused(
    claims: dict[str, Any], private: dict[str, Any] | None
) -> None:
    """Nothing but Refused comes out, and nobody gets in who does not name the account's UID."""
    if private is not None:
        claims["kubernetes.io"] = private
    try:
        user, _ = judged(claims)
    except InvalidCredentials:
        return
    assert user.uid == "u"


def test_new_tokens_hold_and_have_the_claims_of_kubernetes() -> None:
    account = {"metadata": {"name": "robot", "namespace": "default", "uid": "u"}}
    places = {"pod": Reference("p", "pu"), "node": Reference("n")}
    made = bound.issue(
        account, issuer="me", audiences=["api"], now=NOW + 0.7, seconds=600, warn_after=60, bound=places
    )
    identity = made.pop("jti")
    assert len(identity) == 36
    assert made == {
        "aud": ["api"],
        "exp": int(NOW) + 600,
        "iat": int(NOW),
        "iss": "me",
        "kubernetes.io": {
            "namespace": "default",
            "serviceaccount": {"name": "robot", "uid": "u"},
            "pod": {"name": "p", "uid": "pu"},
            "node": {"name": "n"},
            "warnafter": int(NOW) + 60,
        },
        "nbf": int(NOW),
        "sub": "system:serviceaccount:default:robot",
    }
    assert judged(made)[1] == int(NOW) + 660
    read = bound.read(made)
    assert list(read.objects()) == [("serviceaccounts", "default", "robot"), ("pods", "default", "p")]
