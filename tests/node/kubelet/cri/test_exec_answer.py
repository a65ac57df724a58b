"""The runtime's answer about a command, read without copying what nobody reads."""

from __future__ import annotations

import pytest
from cri_api.v1 import api_pb2 as messages
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.node.kubelet.cri import exec_answer


@given(
    st.integers(-(2**31), 2**31 - 1), st.binary(max_size=300), st.binary(max_size=300), st.integers(0, 400)
)
def test_it_is_what_protobuf_says_up_to_the_limit(
    code: int, output: bytes, errors: bytes, limit: int
) -> None:
    data = messages.ExecSyncResponse(stdout=output, stderr=errors, exit_code=code).SerializeToString()
    assert exec_answer.parse(data, None) == (code, output, errors)
    assert exec_answer.parse(data, limit) == (code, output[:limit], errors[:limit])


@given(st.binary(max_size=60))
def test_anything_else_is_refused_or_read(data: bytes) -> None:
    try:
        exec_answer.parse(data, 10)
    except ValueError:
        pass


@pytest.mark.parametrize("data", [b"\x0a\x05abc", b"\x80" * 20, b"\x0d1234", b"\x0a"])
def test_a_broken_answer_looks_broken(data: bytes) -> None:
    with pytest.raises(ValueError):
        exec_answer.parse(data, None)
