"""Flags as Go programs read them."""

import argparse

import pytest

from pybernetes.lib import flags
from pybernetes.lib.flags import Flag, Repeated, Seconds

FLAGS = (
    Flag("concurrent-syncs", 5, "workers"),
    Flag("sync-period", Seconds(300)),
    Flag("leader-elect", True),
    Flag("rate", 0.1),
    Flag("controllers", ("*",)),
    Flag("root-ca-file", ""),
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("5m", 300), ("1h2m3s", 3723), ("1.5s", 1.5), ("250ms", 0.25), ("-1m", -60), ("10us", 1e-5)],
)
def test_duration(text: str, seconds: float) -> None:
    assert flags.duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "5x", "1m ", "5m3"])
def test_not_a_duration(text: str) -> None:
    with pytest.raises(ValueError, match="invalid duration"):
        flags.duration(text)


def test_parse() -> None:
    parser = argparse.ArgumentParser()
    flags.add(parser, FLAGS)
    assert parser.parse_args([]) == flags.defaults(FLAGS)
    options = parser.parse_args(
        ["--concurrent-syncs=7", "--sync-period", "1m30s", "--leader-elect=false", "--controllers=*,-job"]
    )
    assert options.concurrent_syncs == 7
    assert options.sync_period == 90
    assert options.leader_elect is False
    assert options.controllers == ("*", "-job")
    assert parser.parse_args(["--leader-elect"]).leader_elect is True


def test_defaults_refuse_unknown_names() -> None:
    assert flags.defaults(FLAGS, rate=0.5).rate == 0.5
    with pytest.raises(TypeError, match="no flag for speed"):
        flags.defaults(FLAGS, speed=1)


def test_lists_grow() -> None:
    parser = argparse.ArgumentParser()
    flags.add(parser, (Flag("names", ("x",)), Flag("files", Repeated())))
    assert parser.parse_args([]) == argparse.Namespace(names=("x",), files=())
    options = parser.parse_args(["--names=a,b", "--files=a,b", "--names", "c", "--files=c"])
    assert options == argparse.Namespace(names=("a", "b", "c"), files=("a,b", "c"))
    assert parser.parse_args([]).names == ("x",)
