from __future__ import annotations

import asyncio
from typing import Any

import orjson

from pybernetes.client.credentials import Anonymous, Authority
from pybernetes.client.kubeconfig import Config
from pybernetes.lib.clock import ManualClock
from pybernetes.lib.http.messages import Request, Response
from pybernetes.lib.http.server import Server
from pybernetes.tools.dashboard.application import Application
from pybernetes.tools.dashboard.guard import Guard
from pybernetes.tools.dashboard.users import Users
from tests.support import eventually

_HOST = "here.localhost:1"


class Api:
    """An API server that accepts everybody and has nothing; it counts the requests that are open."""

    def __init__(self) -> None:
        self.open = 0

    def __call__(self, request: Request) -> Any:
        if request.path.endswith("selfsubjectreviews"):
            return Response(b'{"status": {"userInfo": {"username": "somebody"}}}', 201)
        if request.path == "/apis":
            return self._wait()
        return Response(b"{}")

    async def _wait(self) -> Response:
        self.open += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.open -= 1
        return Response(b"{}")


def _request(method: str, path: str, body: object = None, cookie: str = "") -> Request:
    headers = {b"host": _HOST.encode(), b"origin": f"http://{_HOST}".encode(), b"cookie": cookie.encode()}
    data = b"" if body is None else orjson.dumps(body)
    return Request(None, method, path, "", headers, data)  # type: ignore[arg-type]


async def test_users_without_a_session_are_let_go_and_the_owner_is_kept() -> None:
    clock, api = ManualClock(), Api()
    server = Server(api)
    port = await server.start("127.0.0.1", 0)
    config = Config(f"http://127.0.0.1:{port}", Anonymous(Authority()))
    application = Application(Users(config), Guard((_HOST,)), clock)
    code = application.link().partition("#code=")[2]
    try:
        for proof in ({"code": code}, {"token": "one"}, {"token": "one"}, {"token": "two"}):
            answer = await application(_request("POST", "/session", proof))
            assert answer.status == 200, answer.body
        # Each user has begun to read the cluster for the search, once.
        await eventually(lambda: api.open == 3)
        cookie = dict(answer.headers)[b"Set-Cookie"].decode().partition(";")[0]
        await clock.advance(3000)
        assert (await application(_request("GET", "/session", cookie=cookie))).status == 200
        await clock.advance(700)
        # An hour is over for those who did nothing.
        await eventually(lambda: api.open == 2)
        await clock.advance(13 * 3600)
        await eventually(lambda: api.open == 1)
        assert (await application(_request("GET", "/session", cookie=cookie))).status == 401
    finally:
        await application.close()
        await server.stop()
