"""Answers the requests of browsers: pages, log-in, the API as the user, and the WebSocket of what changes."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from typing import Any

import orjson

from pybernetes.client.errors import StatusError
from pybernetes.client.kubeconfig import Config
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.http.messages import JSON, TEXT, Request, Response
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.upgrade import switching_protocols, upgraded, wanted_protocol
from pybernetes.lib.http.websocket import accept_headers, offered_protocols
from pybernetes.lib.http.websocket_connection import WebSocket
from pybernetes.tools.dashboard import api_proxy, guard, sessions
from pybernetes.tools.dashboard.live_stream import LiveStream
from pybernetes.tools.dashboard.pages import pages
from pybernetes.tools.dashboard.sessions import Session, Sessions
from pybernetes.tools.dashboard.user import User, with_token

log = logging.getLogger(__name__)
API = "/k8s"
_LARGEST_LOGIN = 32 << 10
_OWNER = b"the one-time link"


class Application:
    """What a server answers. ``host`` is the one name and port under which it is to be asked."""

    def __init__(self, config: Config, host: str, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self.sessions: Sessions[User] = Sessions(self._clock)
        self._config, self._guard = config, guard.Guard(host)
        # By what they proved themselves with: sessions of the same user share his connections and his search.
        self._users: dict[bytes, User] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def link(self) -> str:
        """Return a link that logs in once. The code is behind the ``#``: no server or log between ever sees it."""
        return f"{self._guard.origin}/#code={self.sessions.new_code()}"

    async def close(self) -> None:
        """End the connections of all users."""
        for user in list(self._users.values()):
            await user.close()

    # -- requests ----------------------------------------------------------------------------------------

    def __call__(self, request: Request) -> Any:
        """Answer a request."""
        websocket = wanted_protocol(request.headers).lower() == b"websocket"
        origin = request.header(b"origin") if b"origin" in request.headers else None
        refusal = self._guard.refusal(
            request.method,
            request.header(b"host"),
            origin,
            request.header(b"sec-fetch-site"),
            websocket=websocket,
        )
        if refusal is not None:
            return _refuse(refusal.status, refusal.message)
        path = request.path
        if path == "/session":
            return self._session(request)
        if path == "/stream" and websocket:
            return self._stream(request)
        if path.startswith(API + "/"):
            session = self._proven(request, request.header(guard.TOKEN_HEADER))
            if session is None:
                return _refuse(401, "log in first")
            return api_proxy.answer(session.identity, request, path.removeprefix(API))
        return self._page(request)

    def _page(self, request: Request) -> Response:
        page = pages().get(request.path)
        if page is None or request.method != "GET":
            return _refuse(404, "there is no such page")
        headers = (*self._guard.page_headers(), (b"Cache-Control", b"no-cache"), (b"ETag", page.tag))
        if request.headers.get(b"if-none-match") == page.tag:
            return Response(b"", 304, page.content_type, headers)
        return Response(page.body, 200, page.content_type, headers)

    # -- sessions ----------------------------------------------------------------------------------------

    def _current(self, request: Request) -> Session[User] | None:
        secret = sessions.secret_of(request.header(b"cookie"))
        return self.sessions.get(secret) if secret else None

    def _proven(self, request: Request, token: str) -> Session[User] | None:
        """Return the session of a request that knows the session's token."""
        session = self._current(request)
        return session if session is not None and session.proves(token) else None

    def _session(self, request: Request) -> Any:
        """GET tells a page who is logged in, and its token; POST logs in, DELETE logs out."""
        if request.method == "POST":
            return self._log_in(request)
        session = self._current(request)
        if session is None:
            return _refuse(401, "log in first")
        if request.method == "GET":
            # Other origins cannot read the answer, nor ask: see the guard.
            return _json(self._about(session))
        if request.method != "DELETE" or not session.proves(request.header(guard.TOKEN_HEADER)):
            return _refuse(403, "the session's token is missing")
        self.sessions.end(sessions.secret_of(request.header(b"cookie")))
        self._forget()
        return _json({}, cookie=sessions.no_cookie())

    def _about(self, session: Session[User]) -> dict[str, str]:
        user = session.identity
        return {
            "token": session.token,
            "user": user.name,
            "context": user.config.context,
            "namespace": user.config.namespace,
        }

    async def _log_in(self, request: Request) -> Response:
        try:
            ask = orjson.loads(request.body) if len(request.body) <= _LARGEST_LOGIN else None
            if not isinstance(ask, dict):
                raise ValueError("a JSON object is needed")
            code, token = ask.get("code"), ask.get("token")
            if isinstance(code, str):
                if not self.sessions.take_code(code):
                    return _refuse(
                        401, "the link was used already, or is too old: ask for a new one in the terminal"
                    )
                proof = _OWNER
                user = self._users.get(proof) or User(self._config)
            elif isinstance(token, str):
                proof = hashlib.sha256(token.strip().encode()).digest()
                user = self._users.get(proof) or with_token(self._config, token.strip())
            else:
                raise ValueError("a code or a token is needed")
        except ValueError as error:
            return _refuse(400, str(error))
        try:
            await user.check()
        except (StatusError, OSError) as error:
            if user not in self._users.values():
                await user.close()
            return _refuse(401, f"the API server does not accept this user: {error}")
        if user.closed:  # his last session ended while we asked
            return _refuse(503, "try again")
        # Somebody may have been faster with the same proof while we asked.
        first = self._users.setdefault(proof, user)
        if first is not user:
            await user.close()
            user = first
        user.search.start()
        secret, session = self.sessions.begin(user)
        self._expire_after(sessions.IDLE_SECONDS)
        self._expire_after(sessions.LONGEST_SECONDS)
        return _json(self._about(session), cookie=sessions.cookie(secret))

    def _expire_after(self, seconds: float) -> None:
        """Look for sessions that are over when one may be; without that, who never comes again would stay for ever."""

        def expire() -> None:
            self.sessions.expire()
            self._forget()

        # A little later, so that the moment itself has passed.
        self._clock.call_later(seconds + 1, expire)

    def _forget(self) -> None:
        """End the connections of users who have no session any more; the owner may come again."""
        kept = {id(user) for user in self.sessions.identities()}
        gone = [proof for proof, user in self._users.items() if proof != _OWNER and id(user) not in kept]
        for proof in gone:
            task = asyncio.get_running_loop().create_task(self._users.pop(proof).close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    # -- what changes ------------------------------------------------------------------------------------

    def _stream(self, request: Request) -> Answer:
        token = guard.websocket_token(offered_protocols(request.headers))
        session = self._proven(request, token) if token else None
        if session is None:
            return _refuse(401, "log in first")
        head = switching_protocols(
            accept_headers(request.headers.get(b"sec-websocket-key", b""), guard.PROTOCOL.encode())
        )

        async def serve(client: Duplex) -> None:
            session.on_end.append(client.close)
            try:
                await LiveStream(session.identity, WebSocket(client, guard.PROTOCOL, client=False)).serve()
            finally:
                session.on_end.remove(client.close)
                session.used = self._clock.monotonic()
                self._expire_after(sessions.IDLE_SECONDS)

        return upgraded(head, serve)


def _refuse(status: int, message: str) -> Response:
    return Response(f"{message}\n".encode(), status, TEXT, guard.DATA_HEADERS)


def _json(value: Any, cookie: str = "") -> Response:
    headers = (*guard.DATA_HEADERS, (b"Set-Cookie", cookie.encode())) if cookie else guard.DATA_HEADERS
    return Response(orjson.dumps(value), 200, JSON, headers)
