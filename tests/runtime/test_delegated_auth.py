"""Who may see a component's pages."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.client.refs import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.http.messages import Request
from pybernetes.runtime.delegated_auth import DelegatedAuth, FrontProxy


class Reviews:
    """Answers reviews: the token "good" is jane, who may see /metrics."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def create(self, kind: Any, obj: dict[str, Any]) -> dict[str, Any]:
        self.calls.append(kind.kind)
        if kind == TOKEN_REVIEWS:
            known = obj["spec"]["token"] == "good"
            return {"status": {"authenticated": known, "user": {"username": "jane", "groups": ["g"]}}}
        assert kind == SUBJECT_ACCESS_REVIEWS
        spec = obj["spec"]
        allowed = (
            spec["user"] in ("jane", "prometheus") and spec["nonResourceAttributes"]["path"] == "/metrics"
        )
        return {"status": {"allowed": allowed}}


@dataclass
class Session:
    """A TLS session whose client showed a certificate."""

    certificate: dict[str, Any]
    chain: tuple[str, ...]

    def getpeercert(self, binary_form: bool = False) -> dict[str, Any] | bytes:
        return b"DER" if binary_form else self.certificate

    def get_verified_chain(self) -> list[bytes]:
        return [name.encode() for name in self.chain]


def fingerprint(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def asked(path: str, headers: dict[str, str], tls: Session | None) -> Request:
    lines = {name.encode(): value.encode() for name, value in headers.items()}
    return Request(SimpleNamespace(tls=tls), "GET", path, "", lines, b"")  # type: ignore[arg-type]


CERTIFICATE: dict[str, Any] = {
    "subject": ((("organizationName", "monitoring"),), (("commonName", "prometheus"),))
}


@pytest.mark.parametrize(
    ("path", "headers", "certificate", "status"),
    [
        ("/healthz", {}, None, None),
        ("/healthz/ping", {}, None, None),
        ("/healthzzz", {}, None, 403),
        ("/metrics", {}, None, 403),
        ("/metrics", {"authorization": "Bearer good"}, None, None),
        ("/metrics", {"authorization": "Bearer bad"}, None, 401),
        ("/metrics", {"authorization": "Basic abc"}, None, 401),
        ("/debug", {"authorization": "Bearer good"}, None, 403),
        ("/metrics", {}, Session(CERTIFICATE, ("authority",)), None),
        ("/metrics", {}, Session(CERTIFICATE, ()), 401),
        ("/metrics", {"authorization": "Bearer good"}, Session(CERTIFICATE, ()), None),
    ],
)
async def test_who_may_look(
    path: str, headers: dict[str, str], certificate: Session | None, status: int | None
) -> None:
    access_check = DelegatedAuth(Reviews())  # type: ignore[arg-type]
    page = await access_check(asked(path, headers, certificate))
    assert (page.status if page else None) == status


@pytest.mark.parametrize(
    ("vouched_by", "names", "headers", "status"),
    [
        ("clients", (), {"x-remote-user": "nobody"}, None),  # is prometheus, whatever it says
        ("proxies", (), {"x-remote-user": "jane", "x-remote-group": "g"}, None),
        ("proxies", (), {"x-remote-user": "nobody"}, 403),
        ("proxies", (), {}, 401),
        ("proxies", ("prometheus",), {"x-remote-user": "jane"}, None),
        ("proxies", ("other",), {"x-remote-user": "jane"}, 401),
        ("others", (), {"x-remote-user": "jane"}, 401),
        ("others", (), {"authorization": "Bearer good"}, None),
    ],
)
async def test_front_proxies(
    vouched_by: str, names: tuple[str, ...], headers: dict[str, str], status: int | None
) -> None:
    clients, proxies = (SimpleNamespace(fingerprints={fingerprint(name)}) for name in ("clients", "proxies"))
    proxy = FrontProxy(proxies, names)  # type: ignore[arg-type]
    access_check = DelegatedAuth(Reviews(), clients=clients, proxy=proxy)  # type: ignore[arg-type]
    page = await access_check(asked("/metrics", headers, Session(CERTIFICATE, (vouched_by,))))
    assert (page.status if page else None) == status


async def test_answers_are_kept_for_a_moment() -> None:
    clock, reviews = ManualClock(), Reviews()
    access_check = DelegatedAuth(reviews, clock=clock)  # type: ignore[arg-type]
    request = asked("/metrics", {"authorization": "Bearer good"}, None)
    for _ in range(3):
        assert await access_check(request) is None
    assert reviews.calls == ["TokenReview", "SubjectAccessReview"]
    await clock.advance(11)
    assert await access_check(request) is None
    assert len(reviews.calls) == 4
