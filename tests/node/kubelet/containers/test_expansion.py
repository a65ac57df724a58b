"""Variables in the texts of a pod."""

from __future__ import annotations

import pytest

from pybernetes.node.kubelet.containers.expansion import expand


@pytest.mark.parametrize(
    ("text", "result"),
    [("$(A)-$(B)", "1-$(B)"), ("$$(A)", "$(A)"), ("$A $", "$A $"), ("$(A", "$(A"), ("$$$$", "$$"), ("", "")],
)
def test_expansion(text: str, result: str) -> None:
    assert expand(text, {"A": "1"}) == result
