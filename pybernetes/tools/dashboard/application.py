"""Answers the requests of browsers: pages, log-in, the API as the user, and the WebSocket of what changes."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import orjson

from pybernetes.client.openid import OpenIdError, OpenIdProvider
from pybernetes.lib.clock import Clock
from pybernetes.lib.http.duplex import Duplex
from pybernetes.lib.http.messages import JSON, TEXT, Request, Response
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.http.upgrade import switching_protocols, upgraded, wanted_protocol
from pybernetes.lib.http.websocket import accept_headers, offered_protocols
from pybernetes.lib.http.websocket_connection import WebSocket
from pybernetes.tools.dashboard import api_proxy, guard, sessions
from pybernetes.tools.dashboard.live_stream import LiveStream
from pybernetes.tools.dashboard.log_ins import LogIns
from pybernetes.tools.dashboard.pages import pages
from pybernetes.tools.dashboard.sessions import Session, Sessions
from pybernetes.tools.dashboard.user import User
from pybernetes.tools.dashboard.users import NotAccepted, Users

API = "/k8s"
# Where an OpenID provider sends browsers back to.
ENTRANCE = "/oidc"
_LARGEST_LOGIN = 32 << 10


class Application:
    """What a server answers, and for whom; the guard knows the names under which it is to be asked."""

    def __init__(
        self,
        users: Users,
        guarded: guard.Guard,
        clock: Clock | None = None,
        provider: OpenIdProvider | None = None,
    ) -> None:
        self._clock = clock or Clock()
        self._provider, self._log_ins = provider, LogIns(self._clock)
        self.sessions: Sessions[User] = Sessions(self._clock)
        self._users, self._guard = users, guarded

    @property
    def origin(self) -> str:
        """Where it is to be asked."""
        return self._guard.origin

    def link(self) -> str:
        """Return a link that logs in once. The code is behind the ``#``: no server or log between ever sees it."""
        return f"{self._guard.origin}/#code={self.sessions.new_code()}"

    async def close(self) -> None:
        """End the connections of all users."""
        await self._users.close()

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
            entrance=_is_entrance(request),
        )
        if refusal is not None:
            return _refuse(refusal.status, refusal.message)
        path = request.path
        if path == "/session":
            return self._session(request)
        if path == "/log-in":
            return self._ways_in(request)
        if path == "/stream" and websocket:
            return self._stream(request)
        if path.startswith(API + "/"):
            return self._pass_on(request, path.removeprefix(API))
        return self._page(request)

    async def _pass_on(self, request: Request, path: str) -> Answer:
        session = self._proven(request, request.header(guard.TOKEN_HEADER))
        if session is None:
            return _refuse(401, "log in first")
        try:
            user = await self._users.at(session.identity, unquote(request.header(guard.CONTEXT_HEADER)))
        except NotAccepted as error:
            return _refuse(error.status, str(error))
        return await api_proxy.answer(user, request, path)

    def _page(self, request: Request) -> Response:
        entrance = request.path == ENTRANCE and self._provider is not None
        page = pages().get("/" if entrance else request.path)
        if page is None or request.method != "GET":
            return _refuse(404, "there is no such page")
        headers = (
            *self._guard.page_headers(request.header(b"host")),
            (b"Cache-Control", b"no-cache"),
            (b"ETag", page.tag),
        )
        if request.headers.get(b"if-none-match") == page.tag:
            return Response(b"", 304, page.content_type, headers)
        return Response(page.body, 200, page.content_type, headers)

    # -- sessions ----------------------------------------------------------------------------------------

    def _current(self, request: Request) -> Session[User] | None:
        secret = self._secret(request)
        return self.sessions.get(secret) if secret else None

    def _secret(self, request: Request) -> str:
        return sessions.secret_of(request.header(b"cookie"), self._guard.secure)

    def _proven(self, request: Request, token: str) -> Session[User] | None:
        """Return the session of a request that knows the session's token."""
        session = self._current(request)
        return session if session is not None and session.proves(token) else None

    async def _session(self, request: Request) -> Response:
        """GET tells a page who is logged in, and its token; POST logs in, DELETE logs out."""
        if request.method == "POST":
            return await self._log_in(request)
        session = self._current(request)
        if session is None:
            return _refuse(401, "log in first")
        if request.method == "GET":
            # Other origins cannot read the answer, nor ask: see the guard.
            try:
                await self._users.still(session.identity)
                return _json(await self._about(session, request.parameter("context")))
            except NotAccepted as error:
                if error.status == 401:
                    self._end(request)
                return _refuse(error.status, str(error))
        if request.method != "DELETE" or not session.proves(request.header(guard.TOKEN_HEADER)):
            return _refuse(403, "the session's token is missing")
        self._end(request)
        return _json({}, cookie=sessions.no_cookie(self._guard.secure))

    def _end(self, request: Request) -> None:
        self.sessions.end(self._secret(request))
        self._forget()

    async def _about(self, session: Session[User], context: str = "") -> dict[str, Any]:
        user = await self._users.at(session.identity, context)
        return {
            "token": session.token,
            "user": user.name,
            "context": user.config.context,
            "contexts": self._users.contexts(session.identity),
            "namespace": user.config.namespace,
            "onThisMachine": user.on_this_machine,
        }

    async def _ways_in(self, request: Request) -> Response:
        """GET tells how somebody can log in; POST begins a log-in at the OpenID provider, and tells where that is."""
        if request.method == "GET":
            return _json(
                {"link": not self._guard.secure, "provider": self._provider.issuer if self._provider else ""}
            )
        if request.method != "POST" or self._provider is None:
            return _refuse(404, "there is no such way in")
        begun = self._log_ins.begin(self._guard.origin_of(request.header(b"host").lower()) + ENTRANCE)
        try:
            address = await self._provider.address(begun.redirect, begun.state, begun.nonce, begun.verifier)
        except OpenIdError as error:
            return _refuse(502, str(error))
        cookie = sessions.cookie(begun.secret, self._guard.secure, sessions.LOG_IN_COOKIE)
        return _json({"address": address}, cookie)

    async def _user_of(self, ask: Any, cookies: str) -> User:
        """Return who proves himself: with the code of the link, a token, or what a provider sent back."""
        code, token, state, authorization = (
            ask.get(name) if isinstance(ask, dict) else None
            for name in ("code", "token", "state", "authorization")
        )
        if isinstance(code, str):
            if not self.sessions.take_code(code):
                raise NotAccepted(
                    401, "the link was used already, or is too old: ask for a new one in the terminal"
                )
            return await self._users.owner()
        if isinstance(token, str):
            return await self._users.of_token(token.strip())
        if not isinstance(state, str) or not isinstance(authorization, str):
            raise NotAccepted(400, "a code or a token is needed")
        begun = self._log_ins.take(
            state, sessions.secret_of(cookies, self._guard.secure, sessions.LOG_IN_COOKIE)
        )
        if begun is None or self._provider is None:
            raise NotAccepted(401, "this log-in was not begun here, or is too old: begin again")
        try:
            tokens = await self._provider.redeem(authorization, begun.redirect, begun.nonce, begun.verifier)
        except OpenIdError as error:
            raise NotAccepted(401, str(error))
        return await self._users.of_provider(self._provider, tokens)

    async def _log_in(self, request: Request) -> Response:
        try:
            ask = orjson.loads(request.body) if len(request.body) <= _LARGEST_LOGIN else None
            user = await self._user_of(ask, request.header(b"cookie"))
        except orjson.JSONDecodeError as error:
            return _refuse(400, str(error))
        except NotAccepted as error:
            return _refuse(error.status, str(error))
        secret, session = self.sessions.begin(user, user.name)
        self._expire_after(sessions.IDLE_SECONDS)
        self._expire_after(sessions.LONGEST_SECONDS)
        return _json(await self._about(session), cookie=sessions.cookie(secret, self._guard.secure))

    def _expire_after(self, seconds: float) -> None:
        """Look for sessions that are over when one may be; without that, who never comes again would stay for ever."""

        def expire() -> None:
            self.sessions.expire()
            self._forget()

        # A little later, so that the moment itself has passed.
        self._clock.call_later(seconds + 1, expire)

    def _forget(self) -> None:
        self._users.keep(self.sessions.identities())

    # -- what changes ------------------------------------------------------------------------------------

    async def _stream(self, request: Request) -> Answer:
        token = guard.websocket_token(offered_protocols(request.headers))
        session = self._proven(request, token) if token else None
        if session is None:
            return _refuse(401, "log in first")
        try:
            user = await self._users.at(session.identity, request.parameter("context"))
        except NotAccepted as error:
            return _refuse(error.status, str(error))
        head = switching_protocols(
            accept_headers(request.headers.get(b"sec-websocket-key", b""), guard.PROTOCOL.encode())
        )

        async def serve(client: Duplex) -> None:
            session.on_end.append(client.close)
            try:
                await LiveStream(user, WebSocket(client, guard.PROTOCOL, client=False)).serve()
            finally:
                session.on_end.remove(client.close)
                session.used = self._clock.monotonic()
                self._expire_after(sessions.IDLE_SECONDS)

        return upgraded(head, serve)


def _is_entrance(request: Request) -> bool:
    """Return whether a browser, and not a script of somebody's, goes to the page: by a link, or sent back from a log-in."""
    goes = request.header(b"sec-fetch-mode"), request.header(b"sec-fetch-dest")
    return request.method == "GET" and request.path in ("/", ENTRANCE) and goes == ("navigate", "document")


def _refuse(status: int, message: str) -> Response:
    return Response(f"{message}\n".encode(), status, TEXT, guard.DATA_HEADERS)


def _json(value: Any, cookie: str = "") -> Response:
    headers = (*guard.DATA_HEADERS, (b"Set-Cookie", cookie.encode())) if cookie else guard.DATA_HEADERS
    return Response(orjson.dumps(value), 200, JSON, headers)
