"""The page of published vulnerabilities: the tests that it names exist and name the vulnerability in turn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import pytest

from tests.docs.references import ROOT

_NUMBER = re.compile(r"CVE-\d{4}-\d{4,}")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


class Row(NamedTuple):
    number: str
    there: str
    here: str
    tests: list[tuple[str, str]]


@cache
def rows() -> list[Row]:
    def read() -> Iterator[Row]:
        for line in (ROOT / "docs" / "security-cves.md").read_text().splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if _NUMBER.fullmatch(cells[0]):
                yield Row(cells[0], cells[1], cells[2], _TEST.findall(cells[3]))

    return list(read())


def test_every_vulnerability_has_one_row() -> None:
    numbers = [row.number for row in rows()]
    assert len(numbers) == len(set(numbers)) > 95
    assert all(row.there and row.here for row in rows())


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.number)
def test_the_tests_exist_and_name_it(row: Row) -> None:
    named = False
    for path, name in row.tests:
        source = (ROOT / path).read_text()
        assert re.search(rf"^ *(async )?def {name}\(", source, re.MULTILINE), f"{path} has no {name}"
        named = named or row.number in source
    assert named or not row.tests


def test_every_number_in_a_test_has_a_row() -> None:
    known = {row.number for row in rows()}
    named = {
        number for path in (ROOT / "tests").rglob("*.py") for number in _NUMBER.findall(path.read_text())
    }
    assert named - known == set()
