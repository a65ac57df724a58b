import pytest

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import domains


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("example.com/a/b", None),
        ("", "Required value"),
        ("example.com", 'must be a domain-prefixed path (such as "acme.io/foo")'),
        ("/a", 'must be a domain-prefixed path (such as "acme.io/foo")'),
        ("A/b", "a lowercase RFC 1123 subdomain must consist"),
        ("a/b c", "Invalid path (regex used for validation is"),
    ],
)
def test_domain_prefixed_path(value: str, message: str | None) -> None:
    reported = Errors()
    domains.domain_prefixed_path(value, Path("a"), reported)
    assert (message in str(reported[0])) if message else not reported


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a.example", None),
        ("a.example.", None),
        ("", "Required value"),
        ("example", "should be a domain with at least two segments separated by dots"),
        ("A.b", "a lowercase RFC 1123 subdomain must consist"),
        (f"{'a' * 64}.b", "must be no more than 63 characters"),
    ],
)
def test_fully_qualified(value: str, message: str | None) -> None:
    reported = Errors()
    domains.fully_qualified(value, Path("a"), reported)
    assert (message in str(reported[0])) if message else not reported
