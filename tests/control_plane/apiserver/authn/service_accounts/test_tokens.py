"""Tokens against a store: what is remembered, and what makes it forgotten."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypedDict

import pytest

from pybernetes.api.errors import StatusError
from pybernetes.api.registry import builtin
from pybernetes.control_plane.apiserver.assembly.server_context import new_context
from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.authn.authenticator import AuthenticatedToken, InvalidCredentials
from pybernetes.control_plane.apiserver.authn.bearer_tokens import BearerTokens, RememberedToken
from pybernetes.control_plane.apiserver.authn.service_accounts import legacy_tokens, tokens
from pybernetes.control_plane.apiserver.authn.service_accounts.claims import Reference, issue
from pybernetes.control_plane.apiserver.authn.service_accounts.settings import ServiceAccounts
from pybernetes.control_plane.apiserver.authn.service_accounts.tokens import Tokens
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import StoreError
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.tokens import jose
from tests.control_plane.apiserver.authn.requests import request
from tests.support import eventually

AUDIENCES = ("api",)


def new_key(directory: Any) -> jose.SigningKey:
    (directory / "key").write_bytes(jose.new_private_key())
    return jose.read_private_key(directory / "key")


class World:
    """A store with accounts and pods, and tokens for them."""

    def __init__(self, context: ServerContext, signer: jose.SigningKey, clock: ManualClock) -> None:
        self.context, self.clock, self.signer = context, clock, signer
        accounts = ServiceAccounts(("me", "old me"), AUDIENCES, signer, (signer.public,))
        self.tokens = Tokens(context, accounts)
        self.tokens.start()
        self.verified = 0
        check = self.tokens._verify

        def counted(token: bytes) -> Any:
            self.verified += 1
            return check(token)

        self.tokens._verify = counted  # type: ignore[method-assign]

    async def put(self, plural: str, name: str, **more: Any) -> Any:
        kind = self.context.kinds.find("", plural)
        namespace = "default" if kind.namespaced else ""
        metadata = {"name": name, "uid": f"{name}-uid", **({"namespace": namespace} if namespace else {})}
        metadata |= more.pop("metadata", {})
        obj = {"kind": kind.resource.kind, "apiVersion": "v1", "metadata": metadata, **more}
        key = kind.key(namespace, name)
        record = self.context.store.get(key)
        if record is None:
            return await self.context.store.create(key, kind.serialize(obj))
        return await self.context.store.update(key, kind.serialize(obj), record.revision)

    async def drop(self, plural: str, name: str) -> None:
        kind = self.context.kinds.find("", plural)
        await self.context.store.delete(kind.key("default" if kind.namespaced else "", name), 0)

    def make(
        self, seconds: int = 3600, issuer: str = "me", audiences: Any = AUDIENCES, **bound: str
    ) -> bytes:
        account = {"metadata": {"name": "robot", "namespace": "default", "uid": "robot-uid"}}
        references = {kind: Reference(name, f"{name}-uid") for kind, name in bound.items()}
        claims = issue(
            account,
            issuer=issuer,
            audiences=audiences,
            now=self.clock.now(),
            seconds=seconds,
            bound=references,
        )
        return jose.sign(self.signer, claims).encode()

    def ask(self, token: bytes, audiences: Any = AUDIENCES) -> Any:
        try:
            return self.tokens(token, audiences)
        except InvalidCredentials as problem:
            return str(problem)

    def holds(self, token: bytes) -> bool:
        return isinstance(self.ask(token), AuthenticatedToken)


@asynccontextmanager
async def world(directory: Any) -> AsyncIterator[World]:
    store = open_store("memory", stamp=stamp)
    await store.start()
    clock = ManualClock()
    made = World(new_context(store, Kinds(builtin()), clock=clock.now), new_key(directory), clock)
    for plural, name in (("serviceaccounts", "robot"), ("pods", "p"), ("secrets", "s"), ("nodes", "n")):
        await made.put(plural, name)
    yield made
    await store.close()


async def test_a_token_is_verified_once(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        token = here.make(pod="p")
        first = here.ask(token)
        assert first.user.name == "system:serviceaccount:default:robot" and first.audiences == AUDIENCES
        for _ in range(10):
            assert here.ask(token) is first
        assert here.verified == 1


class Bound(TypedDict, total=False):
    """What a token is bound to, by name."""

    pod: str
    secret: str
    node: str


GONE = "service account token has been invalidated"


@pytest.mark.parametrize(
    ("bound", "plural", "name", "problem"),
    [
        ({}, "serviceaccounts", "robot", 'serviceaccounts "robot" not found'),
        ({"pod": "p"}, "pods", "p", GONE),
        ({"secret": "s"}, "secrets", "s", GONE),
        ({"node": "n"}, "nodes", "n", GONE),
        ({"pod": "p", "node": "n"}, "serviceaccounts", "robot", 'serviceaccounts "robot" not found'),
    ],
)
async def test_it_ends_with_what_it_is_bound_to(
    tmp_path: Any, bound: Bound, plural: str, name: str, problem: str
) -> None:
    async with world(tmp_path) as here:
        token = here.make(**bound)
        assert here.holds(token)
        await here.drop(plural, name)
        assert here.ask(token) == problem
        # Another object of that name is another object.
        await here.put(plural, name, metadata={"uid": "another"})
        assert "does not match" in here.ask(token)


async def test_a_pods_node_may_go(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        token = here.make(pod="p", node="n")
        assert here.holds(token)
        await here.drop("nodes", "n")
        assert here.holds(token)


async def test_changes_of_a_pod_do_not_cost_a_signature(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        token = here.make(pod="p")
        for number in range(5):
            assert here.holds(token)
            await here.put("pods", "p", status={"number": number})
        assert here.holds(token) and here.verified == 1


async def test_a_pod_that_is_being_deleted_has_a_little_time(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        token = here.make(pod="p")
        assert here.holds(token)
        await here.put("pods", "p", metadata={"deletionTimestamp": "2023-11-14T22:13:50Z"})  # in 30 seconds
        assert here.holds(token)
        await here.clock.advance(89)
        assert here.holds(token)
        await here.clock.advance(2)
        assert here.ask(token) == GONE


async def test_a_known_token_expires(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        token = here.make(seconds=600)
        await here.clock.advance(659)
        assert here.holds(token)
        await here.clock.advance(2)
        assert here.ask(token) == "service account token has expired"


async def test_audiences(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        token = here.make(audiences=["vault", "api"])
        for _ in range(2):  # new, then known
            assert here.ask(token, ("vault",)).audiences == ("vault",)
            assert here.ask(token, ("x", "api")).audiences == ("api",)
            problem = 'token audiences ["vault" "api"] is invalid for the target audiences ["x"]'
            assert here.ask(token, ("x",)) == problem
        foreign = here.make(audiences=["vault"])
        for _ in range(2):
            assert not here.holds(foreign)
            assert here.ask(foreign, ("vault",)).user.name.endswith("robot")
        assert here.ask(here.make(audiences=[])).audiences == AUDIENCES


async def test_issuers_and_keys(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        assert here.holds(here.make(issuer="old me"))
        assert here.ask(here.make(issuer="someone")) is None
        assert here.ask(b"a.b.c") is None and here.ask(b"") is None
        here.signer = new_key(tmp_path)
        assert here.ask(here.make()) == "invalid signature, no keys found"
        anonymous = jose.SigningKey(
            jose.VerifyingKey("", "ES256", {}, here.signer.public.key), here.signer.key
        )
        here.signer = anonymous
        assert here.ask(here.make()) == "error in cryptographic primitive"


async def test_the_memory_is_bounded(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_MOST", 3)
    async with world(tmp_path) as here:
        made = [here.make(pod="p") for _ in range(5)]
        assert all(here.holds(token) for token in made)
        memory = here.tokens
        assert len(memory._entries) == 3
        assert {len(dependents) for dependents in memory._dependents.values()} == {3}
        await here.drop("pods", "p")
        assert not memory._entries and not memory._dependents
        assert not any(here.holds(token) for token in made)


async def test_a_lost_watch_forgets_everything(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        token = here.make(pod="p")
        assert here.holds(token)
        here.context.store.mirror.end_watches(StoreError("lost"))  # type: ignore[attr-defined]
        assert not here.tokens._entries
        assert here.holds(token)
        await here.drop("pods", "p")
        assert not here.holds(token)


async def test_a_server_that_lags_behind_asks_again(tmp_path: Any) -> None:
    """Another server made the pod; this one has not heard of it yet."""
    async with world(tmp_path) as here:
        token = here.make(pod="late")
        here.context.store.local = False

        async def sync() -> None:
            await here.put("pods", "late")

        here.context.store.sync = sync  # type: ignore[method-assign]
        waiting = here.ask(token)
        assert (await waiting).user.extra["authentication.kubernetes.io/pod-name"] == ("late",)
        assert here.holds(token)


# -- what a connection remembers ------------------------------------------------------------------------------------


async def test_connections_remember_tokens_only_while_they_hold(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as here:
        chain = Authentication((), BearerTokens((here.tokens,), AUDIENCES), audiences=AUDIENCES)
        connection = request().connection

        def remembered() -> RememberedToken:
            last = connection.credential
            assert isinstance(last, RememberedToken)
            return last

        def who(token: bytes) -> str:
            asked = request(("Authorization", f"Bearer {token.decode()}"))
            asked.connection = connection
            try:
                assert chain.authenticate(asked) is None
            except StatusError as error:
                return error.message
            assert b"authorization" not in asked.headers
            return asked.user.extra.get("authentication.kubernetes.io/pod-name", ("",))[0]

        await here.put("pods", "q")
        first, second, plain = here.make(pod="p"), here.make(pod="q"), here.make()
        for _ in range(3):
            assert [who(first), who(first), who(second), who(plain)] == ["p", "p", "q", ""]
        assert remembered().header == b"Bearer " + plain and here.verified == 3
        assert who(first) == "p" and who(first.rpartition(b".")[0] + b"." + b"A" * 86) == "Unauthorized"
        # As soon as the pod is gone, so is the user, on the same connection.
        assert who(first) == "p"
        await here.drop("pods", "p")
        assert who(first) == "Unauthorized"
        # So it is when time has passed, when the memory of the server is full, and when its watch is lost.
        assert who(plain) == ""
        await here.clock.advance(3661)
        assert who(plain) == "Unauthorized"
        monkeypatch.setattr(tokens, "_MOST", 1)
        second, plain = here.make(pod="q"), here.make()
        assert (who(second), remembered().holds()) == ("q", True)
        assert here.holds(plain) and not remembered().holds()
        assert who(second) == "q" and remembered().holds()
        here.context.store.mirror.end_watches(StoreError("lost"))  # type: ignore[attr-defined]
        assert not remembered().holds() and who(second) == "q"
        # A client with a certificate is looked at every time.
        connection.peer, connection.credential = object(), None
        assert who(second) == "q" and connection.credential is None


# -- tokens in secrets ----------------------------------------------------------------------------------------------


async def with_secret(here: World, **metadata: Any) -> bytes:
    prefix = "kubernetes.io/serviceaccount/"
    claims = {
        "iss": legacy_tokens.ISSUER,
        "sub": "system:serviceaccount:default:robot",
        f"{prefix}namespace": "default",
        f"{prefix}secret.name": "legacy",
        f"{prefix}service-account.name": "robot",
        f"{prefix}service-account.uid": "robot-uid",
    }
    token = jose.sign(here.signer, claims)
    data = {"token": base64.b64encode(token.encode()).decode()}
    await here.put("secrets", "legacy", metadata=metadata, data=data)
    return token.encode()


async def test_a_token_in_a_secret(tmp_path: Any) -> None:
    async with world(tmp_path) as here:
        token = await with_secret(here)
        assert here.ask(token).audiences == AUDIENCES and here.ask(token).warnings == ()
        secrets = here.context.kinds.find("", "secrets")
        key = secrets.key("default", "legacy")

        def noted() -> bool:
            obj = secrets.object(here.context.store.get(key))  # type: ignore[arg-type]
            return (obj["metadata"].get("labels") or {}).get(legacy_tokens.LAST_USED) == "2023-11-14"

        await eventually(noted)
        revision = here.context.store.revision
        assert here.holds(token) and here.verified == 1
        await asyncio.sleep(0)
        assert here.context.store.revision == revision
        await here.put("serviceaccounts", "robot", secrets=[{"name": "legacy"}])
        assert here.ask(token).warnings == (legacy_tokens.GENERATED,)
        await here.put("secrets", "legacy", data={"token": ""})
        assert here.ask(token) == "Token does not match server's copy"
        token = await with_secret(here, labels={legacy_tokens.INVALID_SINCE: "2023-01-01"})
        assert "has been marked invalid" in here.ask(token)
        token = await with_secret(here)
        assert here.holds(token)
        await here.drop("secrets", "legacy")
        assert here.ask(token) == "Token has been invalidated"
