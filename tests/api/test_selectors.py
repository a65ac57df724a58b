"""Label and field selectors, with upstream's answers."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import selectors

OBJECTS = {
    "a": {"x": "1", "y": "a"}, "b": {"x": "2"}, "c": {"y": "b", "z": ""}, "d": {"n": "10"}, "e": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "matching"),
    [
        ("", "abcde"), ("  ", "abcde"), ("x", "ab"), ("!x", "cde"), ("! x", "cde"), ("x=1", "a"), ("x==1", "a"),
        ("x!=1", "bcde"), ("x in (1,2)", "ab"), ("x notin (1)", "bcde"), ("z in ()", "c"), ("x in (,1)", "a"),
        ("z in (1,)", "c"), ("z=", "c"), ("z!=", "abde"), ("n>5", "d"), ("n<5", ""), ("n>5,n<20", "d"), ("x=1,y=a", "a"),
        ("x,!x", ""), ("in", ""), ("in in (in)", ""), ("x  =\t1", "a"), ("x in (1,2),x notin (2)", "a"), ("y,!z", "a"),
    ],
)  # fmt: skip
def test_matching(text: str, matching: str) -> None:
    selector = selectors.parse_labels(text)
    assert "".join(name for name, labels in OBJECTS.items() if selector.matches(labels)) == matching


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=1,", "found '', expected: identifier after ','"),
        ("x=1,,y", "found ',', expected: identifier after ','"),
        (",x", "found ',', expected: !, identifier, or 'end of string'"),
        ("=1", "found '=', expected: !, identifier, or 'end of string'"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("!x=1", "found '=', expected: ',' or 'end of string'"),
        ("x=1 y", "found 'y', expected: ',' or 'end of string'"),
        ("x in 1", "unable to parse requirement: found '1' expected: '('"),
        ("x in (1", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("x in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"),
        ("x in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("x (1)", "unable to parse requirement: found '(', expected: in, notin, =, ==, !=, gt, lt"),
        ("x>=1", "unable to parse requirement: found '=', expected: identifier"),
        ("n>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must "
                "be an integer"),
        ("-x=1", 'unable to parse requirement: <nil>: Invalid value: "-x": name part must consist of'),
        ("a/=1", 'unable to parse requirement: <nil>: Invalid value: "a/": name part must be non-empty; name part'),
        ("x=-", 'unable to parse requirement: values[0][x]: Invalid value: "-": a valid label must be'),
        ("x in (a,-)", 'unable to parse requirement: values[0][x]: Invalid value: "-": a valid label must be'),
    ],
)  # fmt: skip
def test_complaints(text: str, message: str) -> None:
    with pytest.raises(selectors.SelectorError) as error:
        selectors.parse_labels(text)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []), (",", []), ("a=b", [("a", "b", True)]), ("a==b", [("a", "b", True)]), ("a!=b", [("a", "b", False)]),
        ("a=b,c!=", [("a", "b", True), ("c", "", False)]), ("a=b\\,c", [("a", "b,c", True)]), ("a=\\=\\\\", [("a", "=\\", True)]),
    ],
)  # fmt: skip
def test_fields(text: str, parts: list[tuple[str, str, bool]]) -> None:
    assert selectors.parse_fields(text) == parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ("a=\\b", "invalid field selector: invalid escape sequence: \\b"),
        ("a=\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_complaints_about_fields(text: str, message: str) -> None:
    with pytest.raises(selectors.SelectorError) as error:
        selectors.parse_fields(text)
    assert str(error.value) == message


def test_selectors_of_objects() -> None:
    assert not selectors.from_object(None).matches({}) and selectors.from_object({}).matches({"a": "b"})
    selector = selectors.from_object(
        {"matchLabels": {"x": "1"}, "matchExpressions": [{"key": "y", "operator": "In", "values": ["a", "b"]},
                                                         {"key": "z", "operator": "DoesNotExist"}]}
    )  # fmt: skip
    assert [name for name, labels in OBJECTS.items() if selector.matches(labels)] == ["a"]
    assert str(selector) == "x=1,y in (a,b),!z"
    with pytest.raises(selectors.SelectorError):
        selectors.from_object({"matchExpressions": [{"key": "a", "operator": "Like"}]})


_KEYS = st.from_regex(r"([a-z]{1,3}/)?[a-z]{1,3}", fullmatch=True)
_VALUES = st.from_regex(r"([A-Za-z0-9]{1,3})?", fullmatch=True)
_REQUIREMENTS = st.one_of(
    st.builds(selectors.Requirement, _KEYS, st.sampled_from(("exists", "!"))),
    st.builds(selectors.Requirement, _KEYS, st.sampled_from(("in", "notin")), st.lists(_VALUES, min_size=1, max_size=3).map(tuple)),
    st.builds(selectors.Requirement, _KEYS, st.sampled_from(("gt", "lt")), st.integers().map(lambda number: (str(number),))),
)  # fmt: skip
_LABELS = st.dictionaries(_KEYS, _VALUES)
# Requirements that many labels meet: each rules little out.
_FEW_KEYS = st.sampled_from("abc")
_FEW_VALUES = st.sampled_from(tuple("0123456789"))
_LOOSE = st.one_of(
    st.builds(selectors.Requirement, _FEW_KEYS, st.just("notin"), st.lists(_FEW_VALUES, max_size=2).map(tuple)),
    st.builds(selectors.Requirement, _FEW_KEYS, st.just("in"), st.lists(_FEW_VALUES, min_size=9, unique=True).map(tuple)),
    st.builds(selectors.Requirement, st.sampled_from("abcd"), st.sampled_from(("exists", "!"))),
    st.builds(selectors.Requirement, _FEW_KEYS, st.sampled_from(("gt", "lt")), st.sampled_from((("-1",), ("2",), ("9",)))),
)  # fmt: skip


@given(st.lists(_REQUIREMENTS, max_size=4), _LABELS)
def test_what_is_printed_reads_back(
    requirements: list[selectors.Requirement], labels: dict[str, str]
) -> None:
    ordered = sorted(requirements, key=lambda requirement: requirement.key)
    selector = selectors.Selector(tuple(ordered))
    again = selectors.parse_labels(str(selector))
    assert again.matches(labels) == selector.matches(labels)


@given(st.lists(_LOOSE, min_size=17, max_size=24), st.dictionaries(_FEW_KEYS, _FEW_VALUES))
def test_many_requirements_mean_what_each_of_them_means(
    requirements: list[selectors.Requirement], labels: dict[str, str]
) -> None:
    expected = all(requirement.matches(labels) for requirement in requirements)
    assert selectors.Selector(tuple(requirements)).matches(labels) is expected


def test_many_requirements_take_little_memory() -> None:
    """A watch holds its selector: 46 bytes for each character when every value had a set of its own."""
    text = ",".join(f"key{number}=value{number}" for number in range(900))
    tracemalloc.start()
    try:
        selector = selectors.parse_labels(text)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(selector.requirements) == 900 and taken < 25 * len(text)


@given(st.text(max_size=20) | st.text("ab,()!=<> in", max_size=20))
def test_nothing_but_its_own_error(text: str) -> None:
    for parse in (selectors.parse_labels, selectors.parse_fields):
        try:
            parse(text)
        except selectors.SelectorError:
            pass
