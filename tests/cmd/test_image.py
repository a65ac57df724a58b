"""The command line of pyb image."""

import pytest

from pybernetes.cmd import image


@pytest.mark.parametrize("verb", [["ls"], ["rm", "i"], ["load", "a.tar"], ["build", "f", "--tag=t"]])
def test_flags_stand_anywhere(verb: list[str]) -> None:
    for line in (["--cluster", "x", *verb], [*verb, "--cluster", "x"], [verb[0], "--cluster=x", *verb[1:]]):
        arguments = image.parser().parse_args(line)
        assert (arguments.verb, arguments.cluster) == (verb[0], "x")
    assert image.parser().parse_args(verb).cluster == ""
