"""What a webhook answers may be large whatever it was asked."""

from __future__ import annotations

import base64
import ssl
import threading
from functools import partial
from typing import Any

import pytest

from pybernetes.control_plane.apiserver.webhooks.caller import Caller
from pybernetes.lib.tls import tls
from tests.control_plane.apiserver.admission.world import World
from tests.hook_server import HookServer, allow


def _warned(size: int, _: str, review: dict[str, Any]) -> dict[str, Any]:
    return allow(review, warnings=["x" * size])


async def test_large_answers_are_read_beside_the_loop(hooks: HookServer) -> None:
    async with World() as served:
        config = {"url": f"https://127.0.0.1:{hooks.port}/here", "caBundle": hooks.bundle}
        review = {"kind": "AdmissionReview", "apiVersion": "v1", "request": {"uid": "u"}}

        def read(value: dict[str, Any]) -> bool:
            return threading.current_thread() is threading.main_thread()

        on_loop = []
        for size in (1, 1_000_000):
            hooks.respond = partial(_warned, size)
            on_loop.append(await Caller(served.context).post(config, review, 30, read))
        assert on_loop == [True, False]
        served.context.https.close()


async def test_large_bundles_of_authorities_are_read_beside_the_loop(
    hooks: HookServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_loop = []
    make = tls.client_context

    def made(**settings: Any) -> ssl.SSLContext:
        on_loop.append(threading.current_thread() is threading.main_thread())
        return make(**settings)

    monkeypatch.setattr(tls, "client_context", made)
    async with World() as served:
        review = {"kind": "AdmissionReview", "apiVersion": "v1", "request": {"uid": "u"}}
        authority = base64.b64decode(hooks.bundle)
        caller = Caller(served.context)
        for bundle in (authority, authority + b"# words\n" * 4000):
            config = {
                "url": f"https://127.0.0.1:{hooks.port}/here",
                "caBundle": base64.b64encode(bundle).decode(),
            }
            for _ in range(2):
                await caller.post(config, review, 30, lambda value: True)
        assert on_loop == [True, False]
        served.context.https.close()
