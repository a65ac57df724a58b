"""One object laid over another."""

from pybernetes.api.patch.overlay import overlaid


def test_objects_are_merged_and_everything_else_is_replaced() -> None:
    base = {"a": {"b": 1, "c": [1, 2]}, "d": {"e": 1}, "f": 1}
    over = {"a": {"c": [3], "g": None}, "d": 2, "f": {"h": 1}}
    assert overlaid(base, over) == {"a": {"b": 1, "c": [3], "g": None}, "d": 2, "f": {"h": 1}}
    assert base == {"a": {"b": 1, "c": [1, 2]}, "d": {"e": 1}, "f": 1}
