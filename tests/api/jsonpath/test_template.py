"""JSONPath templates: what they select, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.jsonpath.comparison import JsonPathError
from pybernetes.api.jsonpath.template import JsonPath, relaxed

OBJECT: dict[str, Any] = {
    "metadata": {"name": "a", "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": {"x.io/y": "z"}},
    "spec": {"list": [1, 2, 3], "none": [], "null": None, "flag": True, "map": {"k": {"v": 1}}},
    "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Sync", "n": 3}]},
}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (".metadata.name", ["a"]),
        (r".metadata.annotations.x\.io/y", ["z"]),
        (r".metadata.annotations['x\.io/y']", ["z"]),
        (".spec.list[0]", [1]),
        (".spec.list[-1]", [3]),
        (".spec.list[1:]", [2, 3]),
        (".spec.list[*]", [1, 2, 3]),
        (".spec.list[:-1]", [1, 2]),
        (".spec.list[9:9]", []),
        (".spec.none[*]", []),
        (".spec.null[*]", []),
        (".spec.null[0]", []),
        (".spec.nothing[0]", []),
        (".spec.map.*.v", [1]),
        ('.status.conditions[?(@.type=="Ready")].status', ["True"]),
        ("..n", [3]),
        (".status.conditions[?(@.n>2)].type", ["Sync"]),
        (".status.conditions[?(@.n)].type", ["Sync"]),
        (".nothing.here", []),
    ],
)
def test_paths(path: str, values: list[Any]) -> None:
    assert JsonPath(f"{{{path}}}").results(OBJECT) == [values]


@pytest.mark.parametrize("path", [".spec[", ".spec[a]", ".spec[?(x)", ".spec[?(@.a]", "....a"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(JsonPathError):
        JsonPath(f"{{{path}}}")


@pytest.mark.parametrize(
    ("template", "results"),
    [
        ("a {.metadata.name} b", [["a "], ["a"], [" b"]]),
        ("{range .spec.list[*]}{@}{','}{end}", [[1], [","], [2], [","], [3], [","]]),
        (
            "{range .status.conditions[*]}{.type}{range .status}{@}",
            # A range without an end: what follows is done for each value, and once more for the value around it.
            [
                ["Ready"],
                ["True"],
                [OBJECT["status"]["conditions"][0]],
                ["Sync"],
                [OBJECT["status"]["conditions"][1]],
                [],
                [OBJECT["status"]],
                [OBJECT],
            ],
        ),
        ("{range .spec.none[*]}{.a[0]}{end}x", [["x"]]),
        ("{range .spec.list[*]}a{range .nothing}b{end}c{end}d", [["a"], ["c"]] * 3 + [["d"]]),
        ("{.spec['flag','list'][0]}", None),
        ("{.spec.list[0,2]}", [[1, 3]]),
        ("{.spec.list[::2]}", [[1, 3]]),
        ("{.metadata .name}", [["a"]]),
        ("{.metadata.name .spec.flag}", [[]]),
        ("{$.spec.flag}", [[True]]),
        ("{range .status.conditions[*]}{$.type}{end}", [["Ready"], ["Sync"]]),
        ("{.status.conditions[?($.n==3)].type}", [["Sync"]]),
        ("{['metadata.name', 'spec.flag']}", [["a", True]]),
        ("{.spec.list[]}", [[1]]),
        ("{.}{.metadata.}", [[], []]),
        ("{.metadata.name.*}", [[97]]),
        (
            "{.metadata..}",
            [[OBJECT["metadata"], OBJECT["metadata"]["annotations"], "z", "2026-01-01T00:00:00Z", "a"]],
        ),
        ("{.status.conditions[?(@.n[5])].type}", [["Sync"]]),
        ("{.status.conditions[?(@.type!='a)b')].type}", [["Ready", "Sync"]]),
        (r"""{'\''}{"\x41\u00e9\101"}""", [["'"], ["A\u00e9A"]]),
        ("{3}{-1.5}{true}", [[3], [-1.5], [True]]),
    ],
)
def test_templates(template: str, results: list[list[Any]] | None) -> None:
    if results is None:
        with pytest.raises(JsonPathError, match="bool is not array or slice"):
            JsonPath(template).results(OBJECT)
    else:
        assert JsonPath(template).results(OBJECT) == results


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{.a", "unclosed action"),
        ("{.a\n}", "unclosed action"),
        ("{\t.a}", r"unrecognized character in action: U\+0009$"),
        ("{..*}", r"unrecognized character in action: U\+002A '\*'"),
        ("{'a}", "unterminated quoted string"),
        ("{.a[?(@.b=~2)]}", r"unrecognized character in action: U\+007E '~'"),
        ("{.a[?(@.b)}", "unclosed array expect ]"),
        ("{.a[-]}", "array index - is not a number"),
        ("{1..2}", r"cannot parse number 1\.\.2"),
        ("{,}", r"unrecognized character in action: U\+002C ','"),
        (r"{'\q'}", r"unquote string '\\q' error invalid syntax"),
        ('{"\\\'"}', "invalid syntax"),
        (r'{"a\\"}', "unterminated quoted string"),
    ],
)
def test_templates_that_are_refused(template: str, message: str) -> None:
    with pytest.raises(JsonPathError, match=message):
        JsonPath(template)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".spec.no", "no is not found"),
        ("end", "not in range, nothing to end"),
        ("spec", "unrecognized identifier spec"),
        (".spec.list[0][0]", "int64 is not array or slice"),
        (".status.conditions[?(@.type=='Sync')].n[?(@.a)]", "3 is not array or slice and cannot be filtered"),
        (".spec[?(@.a)]", "cannot be filtered"),
        (".spec.null[?(@.a)]", "<nil> is not array or slice and cannot be filtered"),
        (".spec.list[?(@==1.5)]", "incompatible types for comparison"),
        (".spec.list[?(@=='a')]", "incompatible types for comparison"),
        (".status.conditions[?(true<false)]", "invalid type for comparison"),
        (".spec.list[?(@=<1)]", "unrecognized filter operator =<"),
        (".spec.list[3]", "array index out of bounds: index 3, length 3"),
        (".spec.list[-4]", "array index out of bounds: index -1, length 3"),
        (".spec.list[0:4]", "array index out of bounds: index 3, length 3"),
        (".spec.list[-4:]", "array index out of bounds: index -1, length 3"),
        (".spec.list[2:1]", "starting index 2 is greater than ending index 1"),
        (".spec.list[::0]", "step must be > 0"),
        (".spec.list[::-1]", "step must be > 0"),
        (".spec.none[0]", "array index out of bounds: index 0, length 0"),
        (".spec.none[-1]", "array index out of bounds: index -1, length 0"),
        (".spec.map[*]", r"map\[string\]interface {} is not array or slice"),
        (".spec.map[0]", r"map\[string\]interface {} is not array or slice"),
        (".metadata.name[*]", "string is not array or slice"),
        (".spec.map[?(@.k)]", r"map\[k:map\[v:1\]\] is not array or slice and cannot be filtered"),
        (".metadata.name[?(@.a)]", "a is not array or slice and cannot be filtered"),
    ],
)
def test_values_that_do_not_fit(path: str, message: str) -> None:
    with pytest.raises(JsonPathError, match=message):
        JsonPath(f"{{{path}}}", allow_missing=False).results(OBJECT)


def test_an_index_is_not_a_field_that_may_be_missing() -> None:
    """Scripts wait for the first item of a list that is empty at first."""
    with pytest.raises(JsonPathError, match="array index out of bounds: index 0, length 0"):
        JsonPath("{.spec.none[0].name}", allow_missing=True).results(OBJECT)


@pytest.mark.parametrize("text", ["a.b", ".a.b", "{a.b}", "{.a.b}"])
def test_relaxed_paths(text: str) -> None:
    assert relaxed(text) == "{.a.b}"


def test_a_path_that_is_more_than_relaxed() -> None:
    with pytest.raises(JsonPathError, match="unexpected path string"):
        relaxed("{.a}{.b}")
