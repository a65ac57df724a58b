"""Profiles of a server that works: pprof's format, and who may see them."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from pybernetes.lib import protobuf_wire as wire
from pybernetes.lib.profiling.pprof_format import Frame, profile
from pybernetes.lib.profiling.profiling import Profiling, ProfilingError


def _strings(data: bytes) -> list[str]:
    return [value.decode() for number, value in wire.fields(gzip.decompress(data)) if number == 6]  # type: ignore[union-attr]


def test_the_format() -> None:
    inner, outer = Frame("f", "a.py", 3), Frame("g", "a.py", 300)
    data = profile({(inner, outer): (2, 5), (outer,): (1, 1)}, [("cpu", "nanoseconds")], 1.0, 2.0)
    fields = list(wire.fields(gzip.decompress(data)))
    assert _strings(data) == ["", "cpu", "nanoseconds", "f", "a.py", "g"]
    samples = [dict(wire.fields(value)) for number, value in fields if number == 2]  # type: ignore[arg-type]
    assert samples == [{1: b"\x01\x02", 2: b"\x02\x05"}, {1: b"\x02", 2: b"\x01\x01"}]
    assert (
        len([1 for number, _ in fields if number == 4])
        == len([1 for number, _ in fields if number == 5])
        == 2
    )
    assert (9, int(2e9)) in fields and (10, int(1e9)) in fields


async def test_tasks_and_memory() -> None:
    profiling = Profiling()

    async def wait_for_something() -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(wait_for_something())
    await asyncio.sleep(0)
    page = await profiling.respond("/debug/pprof/goroutine", "")
    assert page is not None and any("wait_for_something" in text for text in _strings(page[1]))
    page = await profiling.respond("/debug/pprof/goroutine", "debug=1")
    assert page is not None and b"wait_for_something" in page[1]
    page = await profiling.respond("/debug/pprof/heap", "seconds=0.01")
    assert page is not None and "inuse_space" in _strings(page[1])
    assert await profiling.respond("/debug/pprof/nothing", "") is None
    task.cancel()


@pytest.mark.parametrize("query", ["seconds=x", "seconds=0", "seconds=-1", "seconds=100", "seconds=nan"])
async def test_seconds_that_make_no_sense(query: str) -> None:
    with pytest.raises(ProfilingError) as error:
        await Profiling().respond("/debug/pprof/profile", query)
    assert error.value.status == 400
