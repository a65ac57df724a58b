"""Flags, plain YAML, durations and JSONPath: tables, and properties against the libraries."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.lib import plain_yaml
from pybernetes.tools.kubectl.command_line.flags import FlagError, declare, parse, parse_duration
from pybernetes.tools.kubectl.jsonpath import JsonPath
from pybernetes.tools.kubectl.output.yaml import library_writer, plain_writer
from pybernetes.tools.kubectl.printers.yaml import dumps

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
    found = values("a", "-Ao", "yaml", "--count=3", "-f", "x,y", "-fz", "--item", "p,q", "b", "--", "-c", "d")
    assert (found.output, found.all, found.count, found.file, found.item) == (
        "yaml",
        True,
        3,
        ["x", "y", "z"],
        ["p,q"],
    )
    assert (found.args, found.dash) == (["a", "b", "-c", "d"], 2)
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


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("1h30m", 5400), ("500ms", 0.5), ("-2s", -2), ("1.5m", 90), ("1h2m3s", 3723)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


# Without the sign that the library alone takes for more than a text.
WORDS = st.text("abcxyz-.:/ 0123456789'\"#{}[]&*!|>%@,~", max_size=12)
PLAIN = st.recursive(
    WORDS | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc-", min_size=1, max_size=4), inner, max_size=3)
    ),
)


@given(st.dictionaries(st.text("abcde", min_size=1, max_size=5), PLAIN, max_size=4))
def test_plain_yaml_agrees_with_the_library_or_gives_up(value: dict[str, Any]) -> None:
    for text in (yaml.safe_dump(value), dumps(value)):
        try:
            found = plain_yaml.parse(text)
        except plain_yaml.NotPlain:
            continue
        assert found == yaml.safe_load(text)


@given(PLAIN)
def test_what_is_printed_as_yaml_reads_back(value: Any) -> None:
    assert yaml.safe_load(dumps({"value": value})) == {"value": value}


SENTENCES = st.lists(
    WORDS | st.sampled_from(["- a", "2020-01-01", "12:30:45", "1e3", "line\n", "long " * 20])
)


@given(st.dictionaries(WORDS, PLAIN | SENTENCES | SENTENCES.map(" ".join), max_size=4))
def test_the_short_way_to_yaml_agrees_with_the_library_or_gives_up(value: dict[str, Any]) -> None:
    try:
        written = plain_writer.dumps(value)
    except plain_writer.NotPlain:
        return
    assert written == library_writer.dumps(value)


POD = {
    "metadata": {"name": "web", "labels": {"a.b/c": "1"}},
    "spec": {"containers": [{"name": "one", "ports": [80, 443]}, {"name": "two", "n": 3}]},
    "nothing": None,
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{.metadata.name}", "web"),
        ("{.spec.containers[*].name}", "one two"),
        ("{.spec.containers[0].name}", "one"),
        ("{.spec.containers[-1].name}", "two"),
        ("{.spec.containers[0:1].name}", "one"),
        ('{.spec.containers[?(@.name=="two")].n}', "3"),
        ("{.spec.containers[?(@.n)].name}", "two"),
        ("{.spec.containers[?(@.n>2)].name}", "two"),
        ("{range .spec.containers[*]}{.name}{'\\n'}{end}", "one\ntwo\n"),
        ("{..name}", "web one two"),
        ("{.metadata.labels.a\\.b/c}", "1"),
        ("{.metadata['name']}", "web"),
        ("{.metadata['name', 'labels']}", 'web {"a.b/c":"1"}'),
        ("{.spec.containers[0].ports}", "[80,443]"),
        ("name: {.metadata.name}!", "name: web!"),
        ("{.nope}", ""),
        ("{.nothing}", "null"),
        ("{$.metadata.name}", "web"),
        ('{"a\\tb"}', "a\tb"),
        ("{.spec.containers[*].ports[1]}", "443"),
    ],
)
def test_jsonpath(template: str, expected: str) -> None:
    value = POD if "ports[1]" not in template else {"spec": {"containers": [POD["spec"]["containers"][0]]}}  # type: ignore[index]
    assert JsonPath(template).text(value) == expected
