"""The users whose connections are kept: by what they proved themselves with, and by the cluster they look at."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable

from pybernetes.client.errors import StatusError
from pybernetes.client.kubeconfig import Config
from pybernetes.client.openid import OpenIdProvider, OpenIdToken, Tokens
from pybernetes.tools.dashboard.user import User, with_credentials, with_token

_OWNER = b"the one-time link"
_MOST_CONTEXTS = 32


class NotAccepted(Exception):
    """Somebody cannot be what he wants to be: the status of the answer, and why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Users:
    """Sessions of the same user share his connections and his search.

    ``contexts`` are what the kubeconfig has besides the one that was chosen, and ``load`` gives their configuration: whoever
    has the one-time link is the kubeconfig's owner and may look at all of them; a token is for one cluster.
    """

    def __init__(
        self, config: Config, contexts: Iterable[str] = (), load: Callable[[str], Config] | None = None, *,
        on_this_machine: bool = True,
    ) -> None:  # fmt: skip
        self._config, self._load, self._on_this_machine = config, load, on_this_machine
        self._contexts = sorted({config.context, *contexts})[:_MOST_CONTEXTS]
        self._users: dict[tuple[bytes, str], User] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def owner(self) -> User:
        """Return the user of the kubeconfig."""
        return await self._accepted(_OWNER, self._config.context, lambda: User(self._config))

    async def of_token(self, token: str) -> User:
        """Return the user of a bearer token; ValueError if it cannot be one."""
        proof = hashlib.sha256(token.encode()).digest()
        return await self._accepted(proof, self._config.context, lambda: with_token(self._config, token))

    async def of_provider(self, provider: OpenIdProvider, tokens: Tokens) -> User:
        """Return the user of an OpenID provider's token, which is renewed as long as the provider does that."""
        proof = hashlib.sha256(tokens.id_token.encode()).digest()
        credentials = OpenIdToken(self._config.credentials.trust(), provider, tokens)
        return await self._accepted(
            proof, self._config.context, lambda: with_credentials(self._config, credentials)
        )

    async def still(self, user: User) -> None:
        """Ask whether the API server still accepts a user: tokens end, and are taken back. NotAccepted if it does not."""
        try:
            await user.check()
        except StatusError as error:
            if error.code == 401:
                raise NotAccepted(401, f"the API server does not accept this user any more: {error}")
        except OSError:
            pass  # it cannot be reached, and will be again

    async def at(self, user: User, context: str) -> User:
        """Return who a user is at the cluster of another context."""
        if context in ("", user.config.context):
            return user
        if context not in self.contexts(user) or self._load is None:
            raise NotAccepted(404, "there is no such context for this user")
        load = self._load
        return await self._accepted(_OWNER, context, lambda: User(load(context)))

    def contexts(self, user: User) -> list[str]:
        """Return the contexts that a user may look at."""
        owned = any(known is user and proof == _OWNER for (proof, _), known in self._users.items())
        return self._contexts if owned else [user.config.context]

    async def _accepted(self, proof: bytes, context: str, make: Callable[[], User]) -> User:
        """Return a user whom the API server accepts, with his search begun."""
        known = self._users.get((proof, context))
        try:
            user = known or make()
        except ValueError as error:
            raise NotAccepted(400, str(error))
        user.on_this_machine = self._on_this_machine
        try:
            await user.check()
        except (StatusError, OSError) as error:
            if known is None:
                await user.close()
            raise NotAccepted(401, f"the API server does not accept this user: {error}")
        if user.closed:  # his last session ended while we asked
            raise NotAccepted(503, "try again")
        # Somebody may have been faster with the same proof while we asked.
        first = self._users.setdefault((proof, context), user)
        if first is not user:
            await user.close()
        first.search.start()
        return first

    def keep(self, users: Iterable[User]) -> None:
        """Let go of all but some users; the owner may come again."""
        kept = {id(user) for user in users}
        for key in [key for key, user in self._users.items() if key[0] != _OWNER and id(user) not in kept]:
            task = asyncio.get_running_loop().create_task(self._users.pop(key).close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Let go of all."""
        for user in list(self._users.values()):
            await user.close()
