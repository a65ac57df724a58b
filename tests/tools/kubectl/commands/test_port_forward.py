"""Which ports and addresses port-forward takes."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.commands.port_forward import (
    _addresses,
    _checked,
    _numbers,
    _refuse_udp,
)
from pybernetes.tools.kubectl.errors import CommandError

POD: dict[str, Any] = {
    "metadata": {"name": "w"},
    "spec": {
        "containers": [
            {"ports": [{"name": "web", "containerPort": 8080}, {"containerPort": 53, "protocol": "UDP"}]},
            {"ports": [{"containerPort": 54, "protocol": "UDP"}, {"containerPort": 54}]},
        ]
    },
}
SERVICE: dict[str, Any] = {
    "metadata": {"name": "s"},
    "spec": {"ports": [{"name": "http", "port": 80, "targetPort": "web"}, {"name": "dns", "port": 53, "protocol": "UDP"}]},
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "service", "wanted"),
    [
        ("80", None, (80, 80)),
        ("1:2", None, (1, 2)),
        (":2", None, (0, 2)),
        ("web", None, (8080, 8080)),
        ("1:web", None, (1, 8080)),
        ("81:80", SERVICE, (81, 8080)),
        ("81:http", SERVICE, (81, 8080)),
        ("http", SERVICE, (80, 8080)),
        ("80", SERVICE, (80, 8080)),
        ("1:2:3", None, (1, 1)),
    ],
)
def test_ports(text: str, service: Any, wanted: tuple[int, int]) -> None:
    assert _checked(*_numbers(text, service, POD)) == wanted


@pytest.mark.parametrize(
    ("text", "service", "message"),
    [
        ("0:0", None, "remote port must be > 0"),
        ("a:80", None, "error parsing local port 'a': strconv.ParseUint: parsing \"a\": invalid syntax"),
        ("80:", None, "remote port cannot be empty"),
        ("81", SERVICE, "Service s does not have a service port 81"),
        ("x", SERVICE, "Service 's' does not have a named port 'x'"),
    ],
)
def test_ports_that_are_refused(text: str, service: Any, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        _checked(*_numbers(text, service, POD))
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("value", "pair", "refused"),
    [
        (SERVICE, "1:53", "53"),
        (SERVICE, "1:dns", "dns"),
        (SERVICE, "http", ""),
        (POD, "53", "53"),
        (POD, "54", ""),
        (POD, "8080", ""),
    ],
)
def test_ports_for_udp_alone_are_refused(value: dict[str, Any], pair: str, refused: str) -> None:
    if not refused:
        _refuse_udp(value, [pair])
        return
    with pytest.raises(CommandError, match=f"^UDP protocol is not supported for {refused}$"):
        _refuse_udp(value, [pair])


def test_addresses() -> None:
    assert _addresses(["localhost", "127.0.0.2", "127.0.0.2", "::1"]) == [
        ("127.0.0.1", True),
        ("127.0.0.2", False),
        ("::1", False),
    ]
    with pytest.raises(CommandError, match="foo is not a valid IP"):
        _addresses(["localhost", "foo"])
