"""The order of routes, and that names times routes do not multiply without end."""

from __future__ import annotations

import itertools
import random

from pybernetes.control_plane.gateway import precedence
from pybernetes.control_plane.gateway.model import Action, Match, Order, Route, Value

_HEADER = (Value("a", "b"),)
# From first to last.
ORDERED = (
    (Match("exact", "/a"), Order("1", "a/a")),
    (Match("regex", "/a.*"), Order("1", "a/a")),
    (Match("prefix", "/abc"), Order("1", "a/a")),
    (Match("prefix", "/ab/"), Order("1", "a/a")),
    (Match("prefix", "/", "GET"), Order("9", "a/a")),
    (Match("prefix", "/", "", (*_HEADER, Value("c", "d"))), Order("9", "a/a")),
    (Match("prefix", "/", "", _HEADER), Order("9", "a/a")),
    (Match("prefix", "/", "", (), _HEADER), Order("9", "a/a")),
    (Match("prefix", "/"), Order("1", "b/b")),
    (Match("prefix", "/"), Order("2", "a/a")),
    (Match("prefix", "/"), Order("2", "a/b", 0)),
    (Match("prefix", "/"), Order("2", "a/b", 1)),
)


def _routes() -> list[Route]:
    return [Route(match, Action(), order) for match, order in ORDERED]


def test_routes_are_asked_in_the_order_of_the_gateway_api() -> None:
    mixed = _routes()
    random.Random(1).shuffle(mixed)
    assert precedence.ordered({"a.example": mixed}) == {"a.example": _routes()}


def test_routes_of_wider_names_come_after_a_hosts_own() -> None:
    own, wild, every = (Route(Match(), Action(), Order(name, name)) for name in "cba")
    made = precedence.ordered({"*": [every], "a.b": [own], "*.b": [wild]})
    assert made == {"*": [every], "*.b": [wild, every], "a.b": [own, wild, every]}


def test_many_names_and_many_routes_for_all_names_stay_within_bounds() -> None:
    many = [Route(Match("prefix", f"/{number}"), Action(), Order("", "")) for number in range(2000)]
    hosts = {f"{number}.example": many[:1] for number in range(2000)}
    made = precedence.ordered({"*": many, **hosts})
    assert sum(map(len, made.values())) <= precedence.MOST_COPIES
    assert all(made[host][:1] == many[:1] for host in hosts)
    assert len(list(itertools.chain(*made.values()))) >= 4000
