"""Whoever is logged in: the connections to the API that are made with his credentials, and his search."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from pybernetes.client.credentials import Credentials, Token
from pybernetes.client.kubeconfig import Config
from pybernetes.client.rest_transport import RestTransport
from pybernetes.tools.dashboard.search_feed import SearchFeed

_USER_AGENT = "pyb-dashboard"
_LONGEST_TOKEN = 16 << 10
_QUESTIONS_AT_ONCE = 2
# An answer is held until the page has taken it: what is longer comes in parts, as lists and logs do.
_LARGEST_ANSWER = 64 << 20


class User:
    """A user of the cluster. What he proves himself with stays here and is never sent to a browser."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.client = config.client(user_agent=_USER_AGENT, most_bytes=_LARGEST_ANSWER)
        assert isinstance(self.client.transport, RestTransport)
        self.transport: RestTransport = self.client.transport
        self.name = ""
        self.closed = False
        self.on_this_machine = True
        # What takes a look at the whole cluster takes turns.
        self.questions = asyncio.Semaphore(_QUESTIONS_AT_ONCE)
        self.search = SearchFeed(self.client, config.namespace)

    async def check(self) -> None:
        """Ask the API server who this is; StatusError if it does not accept the credentials."""
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = await self.client.call(
            "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=review
        )
        self.name = str(((answer.get("status") or {}).get("userInfo") or {}).get("username", ""))

    async def close(self) -> None:
        """Let go of the search and the connections."""
        self.closed = True
        await self.search.stop()
        await self.client.close()


def with_token(config: Config, token: str) -> User:
    """Return the user of a bearer token at the same cluster, without anything else that the kubeconfig says of users.

    ValueError if it cannot be a token.
    """
    if (
        not token
        or len(token) > _LONGEST_TOKEN
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise ValueError("that is not a bearer token")
    return with_credentials(config, Token(config.credentials.trust(), token))


def with_credentials(config: Config, credentials: Credentials) -> User:
    """Return the user of some credentials at the same cluster, and of nothing else that the kubeconfig says of users."""
    return User(replace(config, credentials=credentials, headers=()))
