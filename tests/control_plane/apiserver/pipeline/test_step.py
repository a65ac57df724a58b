"""The call shape of steps: answers that are at hand stay so, and what a step opens is closed whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.pipeline.step import Handler, Step, after, answered, chain
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer
from tests.control_plane.apiserver.authn.requests import request

DONE = Response(b"done")


def at_once(request: Request) -> Answer:
    return DONE


async def later(request: Request) -> Answer:
    return DONE


def refused(request: Request) -> Answer:
    raise errors.bad_request("no")


async def refused_later(request: Request) -> Answer:
    raise errors.bad_request("no")


def noting(name: str, notes: list[str]) -> Step:
    """Return a step that notes when a request comes by and when its answer does."""

    def close(request: Request, answer: Answer, at_once: bool) -> Answer:
        notes.append(f"{name} {answer.status}")  # type: ignore[union-attr]
        return answer

    def step(following: Handler) -> Handler:
        def handle(request: Request) -> Answer | Awaitable[Answer]:
            notes.append(name)
            return answered(following, request, close, lambda request: notes.append(f"{name} gone"))

        return handle

    return step


def test_steps_go_down_and_answers_come_up_within_one_call() -> None:
    notes: list[str] = []
    assert chain([noting("first", notes), noting("second", notes)], at_once)(request()) is DONE
    assert notes == ["first", "second", "second 200", "first 200"]


async def test_the_same_where_it_takes_time() -> None:
    notes: list[str] = []
    answer: Any = chain([noting("first", notes), noting("second", notes)], later)(request())
    assert await answer is DONE
    assert notes == ["first", "second", "second 200", "first 200"]


@pytest.mark.parametrize("last", [refused, refused_later])
async def test_an_error_closes_what_is_open_and_becomes_an_answer(last: Handler) -> None:
    notes: list[str] = []
    answer: Any = chain([noting("first", notes), noting("second", notes)], last)(request())
    answer = answer if isinstance(answer, Response) else await answer
    assert answer.status == 400 and notes == ["first", "second", "second 400", "first 400"]


async def test_a_client_that_goes_away_closes_what_is_open() -> None:
    notes: list[str] = []
    reached = asyncio.Event()

    async def never(request: Request) -> Answer:
        reached.set()
        await asyncio.Event().wait()
        return DONE

    answer: Any = chain([noting("first", notes), noting("second", notes)], never)(request())
    task = asyncio.ensure_future(answer)
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert notes == ["first", "second", "second gone", "first gone"]


async def test_what_has_to_be_waited_for_comes_first() -> None:
    asked = request()
    assert after(None, at_once, asked) is DONE
    known: list[str] = []

    async def find_out() -> None:
        known.append("user")

    waiting: Any = after(find_out(), later, asked)
    assert known == []
    assert await waiting is DONE and known == ["user"]
