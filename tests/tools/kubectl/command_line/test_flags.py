"""Flags are read, and refused, as pflag does it."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.kubectl.command_line.flags import FlagError, declare, parse

FLAGS = declare(
    """
o output string | x
A all bool false | x
- count int 1 | x
f file list | x
- item array | x
- wait duration 5s | x
- mode string?bare default | x
"""
)


def values(*arguments: str) -> Any:
    return parse(list(arguments), FLAGS)


def test_flags_are_read_as_pflag_reads_them() -> None:
    given = values("a", "-Ao", "yaml", "--count=3", "-f", "x,y", "-fz", "--item", "p,q", "b", "--", "-c", "d")
    assert (given.output, given.all, given.count, given.file, given.item) == (
        "yaml",
        True,
        3,
        ["x", "y", "z"],
        ["p,q"],
    )
    assert (given.args, given.dash) == (["a", "b", "-c", "d"], 2)
    assert values("-o=json").output == "json"
    assert (values().wait, values().mode, values("--mode").mode, values("--mode=x").mode) == (
        5.0,
        "default",
        "bare",
        "x",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nope"], "unknown flag: --nope"),
        (["-Ax"], "unknown shorthand flag: 'x' in -x"),
        (["-o"], "flag needs an argument: 'o' in -o"),
        (["--output"], "flag needs an argument: --output"),
        (
            ["--count=x"],
            'invalid argument "x" for "--count" flag: strconv.ParseInt: parsing "x": invalid syntax',
        ),
        (
            ["--all=x"],
            'invalid argument "x" for "-A, --all" flag: strconv.ParseBool: parsing "x": invalid syntax',
        ),
        (["--wait=3"], 'invalid argument "3" for "--wait" flag: time: missing unit in duration "3"'),
    ],
)
def test_flag_errors(arguments: list[str], message: str) -> None:
    with pytest.raises(FlagError) as caught:
        parse(arguments, FLAGS)
    assert caught.value.message == message
