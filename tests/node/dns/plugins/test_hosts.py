"""hosts: names of a file and of the Corefile itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.node.dns import chain, wire
from pybernetes.node.dns.corefile import CorefileError
from tests.node.dns.chains import answers, ask, environment, resolver


def file(path: Path, *lines: str, more: str = "") -> str:
    """Return a Corefile with hosts."""
    inner = "\n".join(f"  {line}" for line in lines)
    return f". {{\n hosts {path} {{\n{inner}\n }}\n kubernetes cluster.local\n {more}\n}}\n"


async def test_names_of_the_file_and_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(
        "192.0.2.1 one.example one  # first\n2001:db8::1 one.example\nnonsense here\n192.0.2.9 *.wild.example\n"
    )
    text = file(path, "192.0.2.2 two.example", "192.0.2.3 one.example", "fallthrough")
    assert await answers(text, "One.example") == (0, ["One.example. 192.0.2.1", "One.example. 192.0.2.3"])
    assert await answers(text, "one.example", "AAAA") == (0, ["one.example. 2001:db8::1"])
    assert await answers(text, "one.example", "MX") == (0, [])
    assert await answers(text, "two.example") == (0, ["two.example. 192.0.2.2"])
    assert await answers(text, "1.2.0.192.in-addr.arpa", "PTR") == (
        0, ["1.2.0.192.in-addr.arpa. one.", "1.2.0.192.in-addr.arpa. one.example."]
    )  # fmt: skip
    assert await answers(text, "any.wild.example") == (0, ["any.wild.example. 192.0.2.9"])
    assert (await answers(text, "a.b.wild.example"))[0] == wire.REFUSED
    assert (await answers(text, "web.default.svc.cluster.local"))[0] == wire.NOERROR  # it falls through
    assert (await answers(file(path), "web.default.svc.cluster.local"))[
        0
    ] == wire.SERVFAIL  # and here it does not


async def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("192.0.2.1 one.example\n")
    place = environment()
    chains = chain.build(file(path), place)
    path.write_text("192.0.2.1 one.example\n192.0.2.7 seven.example\n")
    slept = 0

    async def sleep(seconds: float) -> None:
        nonlocal slept
        slept += 1
        if slept > 1:
            raise StopAsyncIteration

    place.clock.sleep = sleep  # type: ignore[method-assign]
    with pytest.raises(StopAsyncIteration):
        await chains.site.background[0]()
    from pybernetes.node.dns.resolver import Resolver

    assert (await ask(Resolver(None, chains.listening[0].handler), "seven.example"))[0] == wire.NOERROR


def test_only_files_that_may_be_read_are(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("")
    with pytest.raises(CorefileError, match="may not be read here"):
        resolver(file(path), environment(files=frozenset({"/etc/hosts"})))
    for wrong, message in (("ttl 0", "ttl provided is invalid"), ("reload -1s", "invalid negative duration")):
        with pytest.raises(CorefileError, match=message):
            resolver(file(path, wrong))
