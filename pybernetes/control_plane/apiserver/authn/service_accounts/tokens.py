"""Checks tokens of service accounts, and remembers those that hold until something happens to what they are bound to."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authn.authenticator import (
    Audiences,
    AuthenticatedToken,
    InvalidCredentials,
    meant_for,
)
from pybernetes.control_plane.apiserver.authn.service_accounts import claims as bound
from pybernetes.control_plane.apiserver.authn.service_accounts import legacy_tokens
from pybernetes.control_plane.apiserver.authn.service_accounts.settings import ServiceAccounts
from pybernetes.control_plane.apiserver.authn.service_accounts.token_uses import TokenUses
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.storage.modify import KEEP, Outcome, modify
from pybernetes.control_plane.store.protocol import Event, StoreError
from pybernetes.lib.tokens import jose

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.context import ServerContext

log = logging.getLogger(__name__)
_MOST = 16384
_BOUND_TO = ("serviceaccounts", "secrets", "pods", "nodes")


class Entry:
    """A token whose signature is good. ``checked`` until one of its objects changes, or it is forgotten."""

    __slots__ = (
        "audiences",
        "checked",
        "claims",
        "clock",
        "keys",
        "known",
        "named",
        "until",
        "user",
        "warnings",
    )

    def __init__(
        self,
        claims: bound.Claims | legacy_tokens.LegacyClaims,
        audiences: Audiences,
        keys: tuple[str, ...],
        clock: Callable[[], float],
        named: bool,
    ) -> None:
        self.claims, self.audiences, self.keys, self.clock = claims, audiences, keys, clock
        self.named = named  # whether the token itself says whom it is for
        self.checked = False
        self.until = 0.0
        self.warnings: tuple[str, ...] = ()
        self.user: User | None = None
        # The answer for this server's own audiences, which nearly everyone asks about.
        self.known: AuthenticatedToken | None = None

    def holds(self) -> bool:
        """Return whether what was found out about the token is still so."""
        return self.checked and self.clock() < self.until


class Tokens:
    """Whose token is it? Known tokens are found by their hash: the tokens themselves are not kept."""

    def __init__(self, context: ServerContext, accounts: ServiceAccounts) -> None:
        self._context, self._accounts = context, accounts
        self._kinds = {plural: context.kinds.find("", plural) for plural in _BOUND_TO}
        self._keys = {key.id: key for key in accounts.keys}
        self._entries: dict[bytes, Entry] = {}
        # Which tokens depend on an object, by its key in the store.
        self._dependents: dict[str, set[bytes]] = {}
        self._notes: set[asyncio.Task[None]] = set()
        self.uses = TokenUses()

    def start(self) -> None:
        """Follow the objects that tokens are bound to."""
        for kind in self._kinds.values():
            self._watch(kind.prefix)

    def _watch(self, prefix: str) -> None:
        def closed(error: StoreError | None) -> None:
            if error is not None:  # what happened meanwhile is not known: check every token again
                for digest in tuple(self._entries):
                    self._forget(digest)
                self._watch(prefix)

        self._context.store.watch(prefix, 0, self._changed, closed=closed)

    def _changed(self, events: list[Event]) -> None:
        dependents = self._dependents
        for event in events:
            if event.key in dependents:
                for digest in tuple(dependents[event.key]):
                    if event.record is None:
                        self._forget(digest)
                    else:
                        self._entries[digest].checked = False

    # -- a token -----------------------------------------------------------------------------------------

    def __call__(
        self, token: bytes, audiences: Audiences
    ) -> AuthenticatedToken | Awaitable[AuthenticatedToken | None] | None:
        """Return whose token it is for one of these audiences, or None if another issuer made it.

        InvalidCredentials says why it is bad.
        """
        digest = hashlib.sha256(token).digest()
        entry = self._entries.get(digest)
        if entry is None:
            entry = self._verify(token)
            if entry is None:
                return None
        elif entry.holds():
            return self._answer(entry, audiences)
        self._meant(entry, audiences)
        try:
            self._check(digest, entry, token)
        except InvalidCredentials:
            if self._context.store.local:
                raise
            return self._again(digest, entry, token, audiences)
        return self._answer(entry, audiences)

    async def _again(
        self, digest: bytes, entry: Entry, token: bytes, audiences: Audiences
    ) -> AuthenticatedToken:
        """Ask once more with the newest state: another server may have just made what the token is bound to."""
        await self._context.fresh()
        self._check(digest, entry, token)
        return self._answer(entry, audiences)

    def _verify(self, token: bytes) -> Entry | None:
        """Return the token with its signature checked; None if it is none of ours."""
        try:
            parsed = jose.parse(token)
        except jose.JoseError:
            return None
        issuer = parsed.claims.get("iss")
        if issuer != legacy_tokens.ISSUER and issuer not in self._accounts.issuers:
            return None
        try:
            jose.verify(parsed, self._candidates(parsed.header.get("kid")))
        except jose.JoseError as error:
            raise InvalidCredentials(str(error)) from None
        claims: bound.Claims | legacy_tokens.LegacyClaims
        if issuer == legacy_tokens.ISSUER:
            claims, given = legacy_tokens.LegacyClaims(parsed.claims), bound.audiences_of(parsed.claims)
        else:
            claims = bound.read(parsed.claims)
            given = claims.audiences
        keys_in_store = tuple(
            self._kinds[plural].key(namespace, name) for plural, namespace, name in claims.objects()
        )
        audiences = given or self._accounts.audiences
        return Entry(claims, audiences, keys_in_store, self._context.clock, bool(given))

    def _candidates(self, name: Any) -> Iterable[jose.VerifyingKey]:
        """Return the keys that may have signed a token: the one that it names, or any if it names none."""
        if not name:
            return self._accounts.keys
        if not isinstance(name, str) or name not in self._keys:
            raise InvalidCredentials("invalid signature, no keys found")
        return (self._keys[name],)

    def _check(self, digest: bytes, entry: Entry, token: bytes) -> None:
        """Judge the token anew and remember the outcome if it is good."""
        try:
            if isinstance(entry.claims, bound.Claims):
                now = self._context.clock()
                entry.user, entry.until = bound.judge(entry.claims, self._lookup, now)
                if entry.claims.warn_after:
                    entry.until = min(entry.until, self.uses.projected(entry.claims.warn_after, now))
            else:
                self._check_legacy(entry, entry.claims, token)
        except InvalidCredentials:
            self._forget(digest)
            raise
        assert entry.user is not None
        if not entry.named:
            self.uses.legacy()
        meant = meant_for(self._accounts.audiences, entry.audiences)
        entry.known = AuthenticatedToken(entry.user, meant, entry.warnings, entry.holds) if meant else None
        entry.checked = True
        self._remember(digest, entry)

    def _check_legacy(self, entry: Entry, claims: legacy_tokens.LegacyClaims, token: bytes) -> None:
        if self._accounts.lookup:
            try:
                entry.warnings = claims.judge(token, self._lookup)
            except legacy_tokens.MarkedInvalid:
                self._note_use(claims)
                raise
            self._note_use(claims)
        entry.user, entry.until = claims.user(), bound.FOREVER

    def _lookup(self, plural: str, namespace: str, name: str) -> Object | None:
        kind = self._kinds[plural]
        record = self._context.store.get(kind.key(namespace, name))
        return None if record is None else kind.object(record)

    def _answer(self, entry: Entry, audiences: Audiences) -> AuthenticatedToken:
        if audiences is self._accounts.audiences and entry.known is not None:
            return entry.known
        assert entry.user is not None
        return AuthenticatedToken(entry.user, self._meant(entry, audiences), entry.warnings)

    def _meant(self, entry: Entry, audiences: Audiences) -> Audiences:
        """Return those of the audiences that the token is for; InvalidCredentials if it is for none."""
        meant = meant_for(audiences, entry.audiences)
        if not meant:
            raise InvalidCredentials(
                f"token audiences {_quoted(entry.audiences)} is invalid for the target audiences {_quoted(audiences)}"
            )
        return meant

    # -- the memory --------------------------------------------------------------------------------------

    def _remember(self, digest: bytes, entry: Entry) -> None:
        if digest in self._entries:
            return
        if len(self._entries) >= _MOST:
            self._forget(next(iter(self._entries)))
        self._entries[digest] = entry
        for key in entry.keys:
            self._dependents.setdefault(key, set()).add(digest)

    def _forget(self, digest: bytes) -> None:
        entry = self._entries.pop(digest, None)
        if entry is None:
            return
        entry.checked = False
        for key in entry.keys:
            others = self._dependents[key]
            others.discard(digest)
            if not others:
                del self._dependents[key]

    # -- secrets note when their token was last used -----------------------------------------------------

    def _note_use(self, claims: legacy_tokens.LegacyClaims) -> None:
        secret = self._lookup("secrets", claims.namespace, claims.secret)
        if secret is not None and legacy_tokens.use_to_note(secret, self._context.clock()):
            task = asyncio.get_running_loop().create_task(self._label(claims))
            self._notes.add(task)
            task.add_done_callback(self._notes.discard)

    async def _label(self, claims: legacy_tokens.LegacyClaims) -> None:
        kind = self._kinds["secrets"]
        key = kind.key(claims.namespace, claims.secret)

        def note(secret: Object | None) -> Object | Outcome:
            date = None if secret is None else legacy_tokens.use_to_note(secret, self._context.clock())
            if secret is None or not date:
                return KEEP
            labels = secret["metadata"].get("labels") or {}
            secret["metadata"]["labels"] = {**labels, legacy_tokens.LAST_USED: date}
            return secret

        try:
            await modify(self._context.store, kind, key, note)
        except StoreError as error:
            log.warning("cannot note the use of the token in %s: %s", key, error)


def _quoted(names: Audiences) -> str:
    return "[" + " ".join(f'"{name}"' for name in names) + "]"
