"""Tests made of tables: what a write of a kind's objects gives, by the fields that the object has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pybernetes.api.resource import Object
from tests.api import kinds

Make = Callable[[Any], Object]
Rows = list[Any]


def refused(make: Make, rows: Rows) -> Callable[..., None]:
    """Return a test of fields and the errors of their create."""

    @pytest.mark.parametrize(("fields", "errors"), rows)
    def test(fields: Any, errors: Any) -> None:
        assert kinds.create_errors(make(fields)) == errors

    return test


def completed(make: Make, rows: Rows) -> Callable[..., None]:
    """Return a test of fields and what a create makes of them, without errors."""

    @pytest.mark.parametrize(("fields", "expected"), rows)
    def test(fields: Any, expected: Any) -> None:
        obj = kinds.created(make(fields))
        assert {key: obj[key] for key in obj if key not in ("apiVersion", "kind", "metadata")} == expected
        assert kinds.create_errors(make(fields)) == []

    return test


def updated(make: Make, rows: Rows) -> Callable[..., None]:
    """Return a test of fields, a change of them by dotted paths, and the errors of that update."""

    @pytest.mark.parametrize(("fields", "change", "errors"), rows)
    def test(fields: Any, change: Any, errors: Any) -> None:
        assert kinds.update_errors(make(fields), change) == errors

    return test


def reported(make: Make, rows: Rows) -> Callable[..., None]:
    """Return a test of fields, a status, and the errors of writing it."""

    @pytest.mark.parametrize(("fields", "status", "errors"), rows)
    def test(fields: Any, status: Any, errors: Any) -> None:
        assert kinds.status_errors(make(fields), status) == errors

    return test


def printed(make: Make, rows: Rows) -> Callable[..., None]:
    """Return a test of fields and the cells of the object's row."""

    @pytest.mark.parametrize(("fields", "row"), rows)
    def test(fields: Any, row: Any) -> None:
        assert kinds.cells(make(fields)) == row

    return test
