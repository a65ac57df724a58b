"""Which containers the runtime's events are about."""

from __future__ import annotations

import pytest

from pybernetes.node.kubelet.cri import container_events
from pybernetes.node.kubelet.cri.containerd import TYPES


@pytest.mark.parametrize(
    ("topic", "body", "expected"),
    [
        ("/tasks/exit", b"\x0a\x01c\x12\x01c\x18\x07", "c"),  # its process
        ("/tasks/exit", b"\x0a\x01c\x12\x01e\x18\x07", ""),  # a command in it
        ("/tasks/oom", b"\x0a\x01c", "c"),
        ("/tasks/exit", b"", ""),
    ],
)
def test_containers_that_events_are_about(topic: str, body: bytes, expected: str) -> None:
    wrapped = b"\x0a\x01t\x12" + bytes([len(body)]) + body
    text = b"\x12\x01n\x1a" + bytes([len(topic)]) + topic.encode() + b"\x22" + bytes([len(wrapped)]) + wrapped
    assert container_events.concerned(TYPES["Envelope"].FromString(text)) == expected
