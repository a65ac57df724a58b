"""gateway as a program: its command line."""

from __future__ import annotations

import pytest

from pybernetes.cmd import gateway


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "--bind-address: '' is no IP address"),
        (["--bind-address=a.example"], "is no IP address"),
        (["--bind-address=192.0.2.1", "--port-range=1"], "is no range of ports"),
        (["--bind-address=192.0.2.1", "--port-range=9-1"], "is no range of ports"),
        (["--bind-address=192.0.2.1", "--port-range=1-70000"], "is no range of ports"),
        (["--bind-address=192.0.2.1", "--concurrency=0"], "at least one thread"),
        (["--bind-address=192.0.2.1", "--proxy-user=-1"], "negative"),
    ],
)
def test_what_the_command_line_refuses(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gateway.main(arguments) == 1
    assert complaint in capsys.readouterr().err


def test_ports_of_a_range() -> None:
    assert gateway.port_range("20000-20001") == range(20000, 20002)
