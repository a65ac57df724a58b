"""What probes ask, and how much of the answer is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import StringValue

from pybernetes.node.kubelet.probes import handlers


@pytest.mark.parametrize("length", [0, 1, 127, 128, 255, 256, 20_000])
def test_a_service_of_any_length_is_asked_about(length: int) -> None:
    # The question has one text with the number 1, like this message.
    assert handlers.health_request("é" * length) == StringValue(value="é" * length).SerializeToString()


async def test_words_of_a_command_have_a_bound() -> None:
    """CVE-2022-31030: what a command of a probe printed was kept without bound."""

    async def exec_sync(run: str, command: Any, seconds: float, limit: int) -> tuple[int, bytes, bytes]:
        assert limit == 10_240
        return 1, b"x" * 1_000_000, b"y" * 1_000_000

    cri: Any = SimpleNamespace(exec_sync=exec_sync)
    with pytest.raises(handlers.Failed) as failed:
        await handlers._exec(cri, {"command": ["true"]}, "run", 1.0)
    assert len(str(failed.value)) <= 10_240
