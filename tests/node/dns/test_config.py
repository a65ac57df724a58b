"""Which servers are asked about other names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.node.dns import wire
from pybernetes.node.dns.config import Configuration, of_machine, parse, server


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1.2.3.4", ("1.2.3.4", 53)), ("1.2.3.4:5353", ("1.2.3.4", 5353)), ("::1", ("::1", 53)),
     ("[fd00::1]:54", ("fd00::1", 54))],
)  # fmt: skip
def test_addresses_of_servers(text: str, expected: tuple[str, int]) -> None:
    assert server(text) == expected


def test_the_config_map_says_whom_to_ask() -> None:
    own = (("192.0.2.1", 53),)
    configuration = parse(
        {"stubDomains": '{"acme.local": ["1.2.3.4", "1.2.3.5:54"], "b.acme.local": ["::1"]}'}, own
    )
    assert configuration.servers(wire.name("x.acme.local")) == (("1.2.3.4", 53), ("1.2.3.5", 54))
    assert configuration.servers(wire.name("b.acme.local")) == (("::1", 53),)
    assert configuration.servers(wire.name("example.com")) == own
    assert parse({"upstreamNameservers": '["8.8.8.8"]'}, own) == Configuration((("8.8.8.8", 53),))
    for data in ({"stubDomains": "[]"}, {"stubDomains": "{"}, {"stubDomains": '{"a": ["name"]}'},
                 {"upstreamNameservers": '"x"'}, {"upstreamNameservers": "1"}):  # fmt: skip
        with pytest.raises(ValueError, match=next(iter(data))):
            parse(data)


def test_the_machines_own_servers(tmp_path: Path) -> None:
    path = tmp_path / "resolv.conf"
    path.write_text("# x\nnameserver 192.0.2.1\nnameserver fe80::1%eth0\nnameserver bad\nsearch a\n")
    assert of_machine(path) == (("192.0.2.1", 53), ("fe80::1", 53))
    assert of_machine(tmp_path / "none") == ()
