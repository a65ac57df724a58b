from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybernetes.control_plane.federation.planner import Plan, Preference, Question, plan, preferences_of

P = Preference


@pytest.mark.parametrize(
    ("preferences", "total", "clusters", "expected"),
    [
        # Which cluster gets what is left over after a division depends on a hash, the same as kubefed's.
        ({"*": P(1)}, 50, "ABC", {"A": 16, "B": 17, "C": 17}),
        ({"*": P(1)}, 50, "AB", {"A": 25, "B": 25}),
        ({"*": P(1)}, 1, "AB", {"A": 0, "B": 1}),
        ({"*": P(1)}, 1, "ABCD", {"A": 0, "B": 0, "C": 0, "D": 1}),
        ({"*": P(1)}, 0, "AB", {"A": 0, "B": 0}),
        ({"*": P(1)}, 50, "", {}),
        ({"*": P(0, 2)}, 50, "ABC", {"A": 2, "B": 2, "C": 2}),
        ({"*": P(0, 20)}, 50, "ABC", {"A": 10, "B": 20, "C": 20}),
        ({"*": P(0, 20), "A": P(1, 100)}, 50, "ABC", {"A": 50, "B": 0, "C": 0}),
        ({"*": P(1, 10, 12)}, 50, "ABC", {"A": 12, "B": 12, "C": 12}),
        ({"*": P(0, 0, 2)}, 50, "ABC", {"A": 0, "B": 0, "C": 0}),
        ({"A": P(1), "B": P(2)}, 60, "ABC", {"A": 20, "B": 40, "C": 0}),
        ({"A": P(10000), "B": P(1)}, 50, "ABC", {"A": 50, "B": 0, "C": 0}),
        ({"A": P(10), "*": P(1, 0, 12)}, 50, "AB", {"A": 46, "B": 4}),
        ({"A": P(1, 4, 6), "B": P(2, 4, 8)}, 9, "AB", {"A": 4, "B": 5}),
        ({"A": P(1), "B": P(1), "C": P(1, 0, 20)}, 100, "ABC", {"A": 40, "B": 40, "C": 20}),
        ({"A": P(10000, 0, 10), "B": P(1), "C": P(1, 0, 21), "D": P(1, 0, 10)}, 71, "ABCD", {"A": 10, "B": 30, "C": 21, "D": 10}),
    ],
)  # fmt: skip
def test_weights_least_and_most(
    preferences: dict[str, Preference], total: int, clusters: str, expected: dict[str, int]
) -> None:
    assert plan(Question(total, preferences, clusters)) == Plan(expected, {})


@pytest.mark.parametrize(
    ("rebalance", "preferences", "total", "current", "capacity", "expected", "overflow"),
    [
        # What runs stays where it is, unless it may be moved.
        (False, {"*": P(1)}, 50, {"C": 30}, {}, {"A": 10, "B": 10, "C": 30}, {}),
        (True, {"*": P(1)}, 51, {"C": 30}, {}, {"A": 17, "B": 17, "C": 17}, {}),
        (False, {"*": P(1)}, 1, {"A": 30}, {}, {"A": 1, "B": 0, "C": 0}, {}),
        # Where only so many fit, the others take the rest; what would better be there waits for room.
        (True, {"*": P(1)}, 50, {}, {"C": 10}, {"A": 20, "B": 20, "C": 10}, {"C": 7}),
        (True, {"A": P(1), "B": P(2)}, 60, {}, {"B": 10}, {"A": 50, "B": 10, "C": 0}, {"B": 30}),
        (False, {"A": P(1), "B": P(5)}, 60, {}, {"B": 10}, {"A": 50, "B": 10, "C": 0}, {}),
        # Nothing fits anywhere: what is left waits.
        (False, {"A": P(1), "B": P(1)}, 60, {}, {"A": 10, "B": 10}, {"A": 10, "B": 10, "C": 0}, {"A": 20, "B": 20}),
        (False, {"*": P(0, 20)}, 50, {}, {"B": 10}, {"A": 20, "B": 10, "C": 20}, {}),
    ],
)  # fmt: skip
def test_what_runs_and_what_fits(
    rebalance: bool, preferences: dict[str, Preference], total: int, current: dict[str, int], capacity: dict[str, int],
    expected: dict[str, int], overflow: dict[str, int],
) -> None:  # fmt: skip
    question = Question(total, preferences, "ABC", rebalance, current, capacity)
    assert plan(question) == Plan(expected, overflow)


def test_what_is_preferred() -> None:
    assert preferences_of({}) == {"*": Preference(1)}
    rows = {"a": {"minReplicas": 1, "maxReplicas": 3, "weight": 2}, "b": {}}
    assert preferences_of({"clusters": rows}) == {"a": Preference(2, 1, 3), "b": Preference()}
    assert Plan({"a": 2, "b": 1}, {"a": 3}).wanted() == {"a": 5, "b": 1}


counts = st.integers(0, 30)
preferences = st.builds(Preference, counts, counts, st.none() | counts)
names = st.sampled_from(["a", "b", "c", "d", "e"])


@given(
    st.integers(0, 100), st.dictionaries(names, preferences), st.sets(names), st.booleans(), st.dictionaries(names, counts),
    st.dictionaries(names, counts), st.text(max_size=5),
)  # fmt: skip
def test_a_plan_keeps_what_it_promises(
    total: int, preferred: dict[str, Preference], clusters: set[str], rebalance: bool, current: dict[str, int],
    capacity: dict[str, int], key: str,
) -> None:  # fmt: skip
    question = Question(total, preferred, sorted(clusters), rebalance, current, capacity, key)
    answer = plan(question)
    assert answer == plan(question)
    assert answer.replicas.keys() == clusters and all(count >= 0 for count in answer.replicas.values())
    assert sum(answer.replicas.values()) <= total
    for name, count in answer.replicas.items():
        assert count <= capacity.get(name, total)
        most = preferred[name].most if name in preferred else 0
        least = preferred[name].least if name in preferred else 0
        assert most is None or count <= max(most, least)
    if any(
        row.weight and row.most is None
        for name, row in preferred.items()
        if name in clusters and name not in capacity
    ):
        assert sum(answer.replicas.values()) == total
