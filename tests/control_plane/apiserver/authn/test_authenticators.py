"""The methods that there are, and tables for the small ones."""

from __future__ import annotations

import argparse
import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.authn import authenticators
from pybernetes.control_plane.apiserver.authn.authenticator import (
    AuthenticatedToken,
    AuthenticatorInputs,
    InvalidCredentials,
)
from pybernetes.control_plane.apiserver.authn.authenticators import (
    bootstrap_tokens,
    certificates,
    front_proxy,
    token_file,
)
from pybernetes.control_plane.apiserver.authn.client_certificate import NO_CERTIFICATE, ClientCertificate
from pybernetes.control_plane.apiserver.authn.setup import all_authenticators, flags
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.lib.discover import discover
from pybernetes.lib.flags import add
from tests.control_plane.apiserver.authn.requests import request

NOW = 1_700_000_000.0
OURS, THEIRS = b"our authority", b"the authority of proxies"


def test_the_methods_in_the_order_of_kubernetes() -> None:
    methods = discover(authenticators.__name__, "AUTHENTICATOR")
    ordered = [
        next(name for name, one in methods.items() if one is method) for method in all_authenticators()
    ]
    assert ordered == [
        "front_proxy", "certificates", "token_file", "service_accounts", "bootstrap_tokens", "jwt", "token_webhook",
    ]  # fmt: skip


def parts(*arguments: str, clients: Any = None, proxies: Any = None) -> AuthenticatorInputs:
    parser = argparse.ArgumentParser()
    add(parser, flags())
    context: Any = SimpleNamespace(clock=lambda: NOW)
    return AuthenticatorInputs(parser.parse_args(arguments), context, ("api",), None, clients, proxies)  # type: ignore[arg-type]


def bundle(*fingerprints: bytes) -> Any:
    return SimpleNamespace(fingerprints=frozenset(fingerprints))


def peer(
    *subject: tuple[str, str], chain: bytes = OURS, until: str = "Jan  1 00:00:00 2030 GMT"
) -> ClientCertificate:
    shown = {"subject": tuple((part,) for part in subject), "notAfter": until}
    return ClientCertificate(shown, b"leaf", frozenset([b"itself", chain]))


# -- certificates ---------------------------------------------------------------------------------------------------

CREDENTIAL = {
    "authentication.kubernetes.io/credential-id": (
        "X509SHA256=df5feff0cd7a05d97ff71b9e15190e48d8dfafcd03d69e59a0d7d5fd8d0fff34",
    )
}
UID = "1.3.6.1.4.1.57683.2"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ([("commonName", "bob")], ("bob", "", ("system:authenticated",))),
        (
            [("organizationName", "a"), ("organizationName", "b"), ("commonName", "bob")],
            ("bob", "", ("a", "b", "system:authenticated")),
        ),
        ([("commonName", "bob"), (UID, "7")], ("bob", "7", ("system:authenticated",))),
        ([("commonName", "first"), ("commonName", "last")], ("last", "", ("system:authenticated",))),
    ],
)
def test_users_of_certificates(subject: list[tuple[str, str]], expected: tuple[Any, ...]) -> None:
    authenticate: Any = certificates.requests(parts(clients=bundle(OURS)))
    user = authenticate(request(peer=peer(*subject)))
    assert (user.name, user.uid, user.groups) == expected
    assert list(user.extra) == list(CREDENTIAL) and user.extra[next(iter(CREDENTIAL))][0].startswith(
        "X509SHA256="
    )


def test_certificates_that_are_nobodys() -> None:
    authenticate: Any = certificates.requests(parts(clients=bundle(OURS)))
    assert authenticate(request(peer=NO_CERTIFICATE)) is None
    assert authenticate(request()) is None
    assert authenticate(request(peer=peer(("organizationName", "system:masters")))) is None
    assert certificates.requests(parts()) is None


@pytest.mark.parametrize(
    ("shown", "problem"),
    [
        (peer(("commonName", "bob"), chain=THEIRS), "unknown authority"),
        (peer(("commonName", "bob"), until="Jan  1 00:00:00 2020 GMT"), "expired"),
        (peer(("commonName", "bob"), (UID, "1"), (UID, "2")), "expected 1 UID"),
        (peer(("commonName", "bob"), (UID, "")), "empty string"),
    ],
)
def test_certificates_that_are_refused(shown: ClientCertificate, problem: str) -> None:
    authenticate: Any = certificates.requests(parts(clients=bundle(OURS)))
    with pytest.raises(InvalidCredentials, match=problem):
        authenticate(request(peer=shown))


# -- front proxies --------------------------------------------------------------------------------------------------

HEADERS = (
    "--requestheader-username-headers=X-Remote-User,X-User",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-uid-headers=X-Remote-Uid",
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-allowed-names=proxy",
)
PROXY = peer(("commonName", "proxy"), chain=THEIRS)


def by_proxy(
    *headers: tuple[str, str], shown: Any = PROXY, arguments: tuple[str, ...] = HEADERS
) -> User | None:
    method: Any = front_proxy.requests(parts(*arguments, clients=bundle(OURS), proxies=bundle(THEIRS)))
    return method(request(*headers, peer=shown))


def test_a_proxy_speaks_for_users() -> None:
    user = by_proxy(
        ("X-Remote-User", "bob"),
        ("X-Remote-Group", "a,b"),
        ("X-Remote-Group", "c"),
        ("X-Remote-Group", ""),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Extra-Acme.com%2fScope", "s1"),
        ("X-Remote-Extra-Acme.com%2Fscope", "s2"),
        ("X-Remote-Extra-Odd%zz", "z"),
    )
    groups = ("a,b", "c", "system:authenticated")
    assert user == User("bob", "7", groups, {"acme.com/scope": ("s1", "s2"), "odd%zz": ("z",)})
    assert by_proxy(("X-User", "carol")) == User("carol", groups=("system:authenticated",))
    assert by_proxy(("X-Remote-Group", "system:masters")) is None
    assert by_proxy(("X-Remote-User", "bob"), shown=NO_CERTIFICATE) is None


@pytest.mark.parametrize(
    "shown",
    [
        peer(("commonName", "proxy"), chain=OURS),
        peer(("commonName", "other"), chain=THEIRS),
        peer(("organizationName", "proxy"), chain=THEIRS),
        peer(("commonName", "proxy"), chain=THEIRS, until="Jan  1 00:00:00 2020 GMT"),
    ],
)
def test_others_do_not(shown: ClientCertificate) -> None:
    with pytest.raises(InvalidCredentials):
        by_proxy(("X-Remote-User", "bob"), shown=shown)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--requestheader-username-headers=a,",), "empty value"),
        (("--requestheader-uid-headers=a",), "aggregation"),
        (("--requestheader-allowed-names=,x",), "empty value"),
    ],
)
def test_flags_that_make_no_sense(arguments: tuple[str, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        front_proxy.requests(parts(*arguments))


def test_clients_and_proxies_of_one_authority_need_names() -> None:
    one = bundle(OURS)
    with pytest.raises(ValueError, match="overlapping certificates"):
        front_proxy.requests(
            parts("--requestheader-username-headers=X-Remote-User", clients=one, proxies=one)
        )
    assert front_proxy.requests(parts(*HEADERS, clients=one, proxies=one)) is not None
    assert front_proxy.requests(parts(*HEADERS, clients=one)) is None


# -- static tokens --------------------------------------------------------------------------------------------------


def test_token_files(tmp_path: Path) -> None:
    path = tmp_path / "tokens.csv"
    path.write_text('t1,bob,7,"a, b"\n\nt2, carol, 8\n')
    find: Any = token_file.tokens(parts(f"--token-auth-file={path}"))
    bob = User("bob", "7", ("a", "b", "system:authenticated"))
    assert (
        find(b"t1", ("api",))[:2] == AuthenticatedToken(bob, ("api",))[:2] and find(b"t1", ("api",)).holds()
    )
    assert find(b"t2", ("other", "api")).audiences == ("api",)
    assert find(b"t1", ("other",)) is None and find(b"t", ("api",)) is None and find(b"", ("api",)) is None
    assert token_file.tokens(parts()) is None


@pytest.mark.parametrize("line", ["a,b", ",bob,1", "just a line"])
def test_lines_that_make_no_sense(tmp_path: Path, line: str) -> None:
    (tmp_path / "tokens.csv").write_text(f"t,bob,7\n{line}\n")
    with pytest.raises(ValueError, match="line 2"):
        token_file.read(tmp_path / "tokens.csv")


# -- bootstrap tokens -----------------------------------------------------------------------------------------------


def secret(
    type_: str = "bootstrap.kubernetes.io/token", deleted: bool = False, **data: str
) -> dict[str, Any]:
    values = {
        "token-id": "abcdef",
        "token-secret": "0123456789abcdef",
        "usage-bootstrap-authentication": "true",
    } | {key.replace("_", "-"): value for key, value in data.items()}
    metadata = {"deletionTimestamp": "2023-01-01T00:00:00Z"} if deleted else {}
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"metadata": metadata, "type": type_, "data": encoded}


@pytest.mark.parametrize(
    ("stored", "groups"),
    [
        (secret(), ("system:bootstrappers",)),
        (secret(expiration="2023-11-14T22:13:21Z"), ("system:bootstrappers",)),
        (
            secret(auth_extra_groups="system:bootstrappers:x:y,system:bootstrappers:a"),
            ("system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:x:y"),
        ),
        (secret(deleted=True), None),
        (secret("Opaque"), None),
        (secret(token_secret="0123456789abcdeg"), None),
        (secret(token_secret=""), None),
        (secret(token_id="abcdeg"), None),
        (secret(usage_bootstrap_authentication="yes"), None),
        (secret(expiration="2023-11-14T22:13:20Z"), None),
        (secret(expiration="tomorrow"), None),
        (secret(expiration="2030-01-01T00:00:00"), None),
        (secret(auth_extra_groups="system:masters"), None),
        (secret(auth_extra_groups="system:bootstrappers:a,"), None),
        (secret(auth_extra_groups="system:bootstrappers:a\n"), None),
    ],
)
def test_bootstrap_tokens(stored: dict[str, Any], groups: tuple[str, ...] | None) -> None:
    user, problem = bootstrap_tokens.judge(stored, b"abcdef", b"0123456789abcdef", NOW)
    if groups is None:
        assert user is None and problem and "0123456789" not in problem
    else:
        assert user == User("system:bootstrap:abcdef", groups=(*groups, "system:authenticated"))
