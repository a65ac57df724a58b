"""The cache with its indexes against a plain model."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pybernetes.api import selectors
from pybernetes.api.resource import Object
from pybernetes.runtime.cache import Cache, Union, by_labels, by_namespace, by_owner, key_of

LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["1", "2", ""]), max_size=3)
OBJECTS = st.builds(
    lambda namespace, name, labels, owners: {
        "metadata": {
            "namespace": namespace,
            "name": name,
            "labels": labels,
            "ownerReferences": [{"uid": uid} for uid in owners],
        }
    },
    st.sampled_from(["one", "two"]),
    st.sampled_from("xyz"),
    LABELS,
    st.lists(st.sampled_from("uvw"), max_size=2, unique=True),
)
STEPS = st.lists(st.tuples(st.booleans(), OBJECTS), max_size=30)
SELECTORS = st.sampled_from(["", "a=1", "a=1,b=2", "a in (1,2)", "a!=1", "!a", "c", "a=1,!b", "b notin (1)"])


@given(STEPS, SELECTORS, st.integers(0, 30))
def test_every_index_agrees_with_a_scan(steps: list[tuple[bool, Object]], text: str, late: int) -> None:
    cache = Cache()
    model: dict[str, Object] = {}
    cache.add_index(by_owner)
    for position, (put, obj) in enumerate(steps):
        if position == late:  # an index may come when there are objects already
            cache.add_index(by_labels)
            cache.add_index(by_namespace)
        key = key_of(obj)
        if put:
            assert cache.put(key, obj) is model.get(key)
            model[key] = obj
        else:
            assert cache.remove(key) is model.pop(key, None)
    cache.add_index(by_labels)
    cache.add_index(by_namespace)
    selector = selectors.parse_labels(text)

    def keys(objects: Any) -> list[str]:
        return sorted(map(key_of, objects))

    assert keys(cache) == sorted(model)
    for namespace in ("one", "two", "none"):
        inside = [obj for obj in model.values() if obj["metadata"]["namespace"] == namespace]
        assert keys(cache.in_namespace(namespace)) == keys(inside)
        chosen = [obj for obj in inside if selector.matches(obj["metadata"]["labels"])]
        assert keys(cache.select(selector, namespace)) == keys(chosen)
    for uid in "uvw":
        owned = [obj for obj in model.values() if uid in by_owner(obj)]
        assert keys(cache.find(by_owner, uid)) == keys(owned)
        assert cache.count(by_owner, uid) == len(owned)


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), OBJECTS), max_size=40), st.integers(0, 40))
def test_an_index_over_caches_agrees_with_a_look_into_each(
    steps: list[tuple[int, bool, Object]], late: int
) -> None:
    caches, union = [Cache(), Cache(), Cache()], Union(by_owner)
    caches[0].join(union)
    caches[1].join(union)
    for position, (number, put, obj) in enumerate(steps):
        if position == late:
            caches[2].join(union)  # it has objects already
            caches[1].leave(union)
        if put:
            caches[number].put(key_of(obj), obj)
        else:
            caches[number].remove(key_of(obj))
    members = [0, 2] if late < len(steps) else [0, 1]
    for uid in "uvw":
        indexed = {(caches.index(cache), key_of(obj)) for cache, obj in union.find(uid)}
        assert indexed == {
            (number, key_of(obj)) for number in members for obj in caches[number] if uid in by_owner(obj)
        }
    for cache in (caches[number] for number in members):
        cache.leave(union)
    assert not any(union.find(uid) for uid in "uvw")
