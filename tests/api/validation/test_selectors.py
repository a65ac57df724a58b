import pytest

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation.selectors import validate_label_selector, validate_node_selector

EXPRESSION = "s.matchExpressions[0]"


@pytest.mark.parametrize(
    ("selector", "fields"),
    [
        (None, []),
        ({}, []),
        ({"matchLabels": {"a": "b"}}, []),
        ({"matchLabels": {"-": "-"}}, ["s.matchLabels", "s.matchLabels"]),
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, [f"{EXPRESSION}.values"]),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]},
            [f"{EXPRESSION}.values"],
        ),
        ({"matchExpressions": [{"operator": "x"}]}, [f"{EXPRESSION}.operator"] + [f"{EXPRESSION}.key"] * 2),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["-"]}]},
            [f"{EXPRESSION}.values[0]"],
        ),
    ],
)
def test_label_selector(selector: Object | None, fields: list[str]) -> None:
    errors = Errors()
    validate_label_selector(selector, Path("s"), errors)
    assert [error.field for error in errors] == fields


@pytest.mark.parametrize(
    ("terms", "fields"),
    [
        ([], ["n.nodeSelectorTerms"]),
        ([{}], []),
        ([{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}], []),
        ([{"matchExpressions": [{"key": "a", "operator": "Gt"}]}],
         ["n.nodeSelectorTerms[0].matchExpressions[0].values"]),
        ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}], []),
        ([{"matchFields": [{"key": "x", "operator": "Exists"}]}],
         ["n.nodeSelectorTerms[0].matchFields[0].operator", "n.nodeSelectorTerms[0].matchFields[0].key"]),
    ],
)  # fmt: skip
def test_node_selector(terms: list[Object], fields: list[str]) -> None:
    errors = Errors()
    validate_node_selector({"nodeSelectorTerms": terms}, Path("n"), errors)
    assert [error.field for error in errors] == fields
