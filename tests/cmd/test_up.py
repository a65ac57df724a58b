"""The command line of pyb up."""

import pytest

from pybernetes.cmd import up


@pytest.mark.parametrize(
    ("line", "wait"),
    [
        ("one --wait", 120),
        ("--wait one", 120),
        ("--wait 5 one", 5),
        ("one --wait=7.5 --hollow 2", 7.5),
        ("one", 0),
    ],
)
def test_flags_stand_anywhere(line: str, wait: float) -> None:
    arguments = up.read(line.split())
    assert (arguments.name, arguments.wait) == ("one", wait)
