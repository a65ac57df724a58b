import pytest

from pybernetes.lib.http.accept import best, etag_matches, parse

OFFERED = ("application/json", "application/yaml")


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("", "application/json"),
        ("*/*", "application/json"),
        ("application/*", "application/json"),
        ("application/yaml", "application/yaml"),
        ("APPLICATION/YAML", "application/yaml"),
        ("application/json;q=0.5, application/yaml", "application/yaml"),
        ("*/*, application/yaml", "application/yaml"),
        ("application/vnd.kubernetes.protobuf,application/json", "application/json"),
        ("application/yaml;q=0", None),
        ("application/yaml;q=nonsense", None),
        ("text/html", None),
        (",;,", None),
    ],
)
def test_best(header: str, wanted: str | None) -> None:
    assert best(header, OFFERED) == wanted


def test_parameters_are_kept_without_the_quality() -> None:
    assert parse("application/json; as=Table; v=v1;q=0.9")[0].parameters == {"as": "Table", "v": "v1"}


@pytest.mark.parametrize(
    ("header", "matches"),
    [
        ("", False),
        ('"A"', True),
        ('W/"A"', True),
        ('"B", "A"', True),
        ("*", True),
        ('"B"', False),
        ("A", False),
    ],
)
def test_etag(header: str, matches: bool) -> None:
    assert etag_matches(header, '"A"') is matches
