"""Every way to say who one is, together with every other: which one counts, and who nobody believes."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.control_plane.apiserver.authn.credentials import KNOWN, REVIEW, World
from tests.servers import TOKEN

Header = tuple[str, str]
ADMINISTRATORS = "system:masters"
NOBODY = "system:anonymous"
# What a front proxy says in headers; from anybody else it means nothing.
SAYS: dict[str, tuple[Header, ...]] = {
    "nothing": (),
    "a user": (("X-Remote-User", "bob"), ("X-Remote-Group", "dev"), ("X-Remote-Group", "ops")),
    "an administrator": (("X-Remote-User", "bob"), ("X-Remote-Group", ADMINISTRATORS)),
    "groups alone": (("X-Remote-Group", ADMINISTRATORS), ("X-Remote-Extra-Scopes", "all")),
    "other spellings": (("x-remote-USER", "bob"), ("X_Remote_Group", ADMINISTRATORS)),
    "an empty name": (("X-Remote-User", ""), ("X-Remote-Group", ADMINISTRATORS)),
}
GROUPS = {
    "a user": ["dev", "ops", KNOWN],
    "an administrator": [ADMINISTRATORS, KNOWN],
    "other spellings": [KNOWN],
}
CERTIFICATES: dict[str, tuple[str, ...] | None] = {
    "none": None,
    "client": ("clients", "ann", "dev"),
    "proxy": ("proxies", "front-proxy-client"),
    "other of the proxies": ("proxies", "somebody", ADMINISTRATORS),
    "client like a proxy": ("clients", "front-proxy-client"),
    "node": ("clients", "system:node:n1", "system:nodes"),
}
TOKENS = {"none": "", "good": TOKEN, "bad": "no-such-token"}


def expected(certificate: str, says: str, token: str) -> tuple[str, list[str]] | None:
    """Return the user and groups, None for nobody: the front proxy comes first, then certificates, then tokens."""
    if certificate == "proxy" and says in GROUPS:
        return "bob", GROUPS[says]
    own = {
        "client": ("ann", ["dev", KNOWN]),
        "client like a proxy": ("front-proxy-client", [KNOWN]),
        "node": ("system:node:n1", ["system:nodes", KNOWN]),
    }
    if certificate in own:
        return own[certificate]
    if token == "good":
        return "admin", [ADMINISTRATORS, KNOWN]
    # Credentials that nobody knows are worse than none: a certificate for which there is no user, a token.
    if certificate != "none" or token == "bad":
        return None
    return NOBODY, ["system:unauthenticated"]


@pytest.fixture(scope="module")
def shown(world: World) -> dict[str, Any]:
    return {name: world.certificate(*what) if what else None for name, what in CERTIFICATES.items()}


@pytest.mark.parametrize("certificate", CERTIFICATES)
def test_which_credentials_count(world: World, shown: dict[str, Any], certificate: str) -> None:
    for says, token in product(SAYS, TOKENS):
        status, answer = world.call(
            "POST", REVIEW, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}, *SAYS[says],
            certificate=shown[certificate], token=TOKENS[token],
        )  # fmt: skip
        case = (certificate, says, token, status, answer)
        wanted = expected(certificate, says, token)
        if wanted is None:
            assert status == 401, case
        elif wanted[0] == NOBODY:
            assert status == 403 and f'User "{NOBODY}"' in answer["message"], case
        else:
            info = answer["status"]["userInfo"]
            assert (status, info["username"], info["groups"]) == (201, *wanted), case
            assert "scopes" not in info.get("extra", {}), case


@pytest.mark.parametrize("wanted", [ADMINISTRATORS, "system:nodes", "dev"])
def test_only_who_may_becomes_another(world: World, shown: dict[str, Any], wanted: str) -> None:
    """Headers of impersonation count for whoever the credentials show, and for the groups they show."""
    headers = (("Impersonate-User", "eve"), ("Impersonate-Group", wanted))
    for certificate, says in product(CERTIFICATES, SAYS):
        by = expected(certificate, says, "none")
        status, answer = world.call(
            "POST", REVIEW, {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}, *SAYS[says], *headers,
            certificate=shown[certificate],
        )  # fmt: skip
        case = (certificate, says, wanted, status, answer)
        if by is None:
            assert status == 401, case
        elif ADMINISTRATORS in by[1]:
            info = answer["status"]["userInfo"]
            assert (status, info["username"], info["groups"]) == (201, "eve", [wanted, KNOWN]), case
        else:
            assert status == 403 and "cannot impersonate" in answer["message"], case
