"""The cache of assembled lists: what it gives, and what it lets go."""

from __future__ import annotations

from pybernetes.control_plane.apiserver.storage.list_cache import ListCache


def test_a_list_is_given_until_something_changes() -> None:
    cache = ListCache()
    cache.put("v1", "/pods/", 0, 7, b"{}")
    assert cache.get("v1", "/pods/", 0, 7) == b"{}"
    assert cache.get("v1", "/pods/", 0, 8) is None
    assert cache.get("v2", "/pods/", 0, 7) is None
    cache.put("v1", "/pods/", 500, 7, b"{},")
    assert (cache.get("v1", "/pods/", 0, 7), cache.get("v1", "/pods/", 500, 7)) == (b"{}", b"{},")


def test_the_oldest_lists_go_first_and_empty_ones_count_too() -> None:
    cache = ListCache(most_bytes=4_500)
    for number in range(100):
        cache.put("v1", f"/pods/{number}/", 0, number, b"")
    assert 5 <= len(cache) < 15
    assert cache.get("v1", "/pods/99/", 0, 99) == b""
    assert cache.get("v1", "/pods/0/", 0, 0) is None


def test_one_list_that_is_larger_than_all_is_kept_alone() -> None:
    cache = ListCache(most_bytes=1_000)
    cache.put("v1", "/a/", 0, 1, b"")
    cache.put("v1", "/b/", 0, 1, b"x" * 5_000)
    assert len(cache) == 1
    cache.put("v1", "/c/", 0, 1, b"")
    assert cache.get("v1", "/b/", 0, 1) is None
    assert cache.get("v1", "/c/", 0, 1) == b""


def test_the_lists_of_a_kind_are_forgotten_together() -> None:
    cache = ListCache()
    for form in ("one", "two"):
        for prefix in ("/a/", "/b/"):
            cache.put(form, prefix, 0, 1, b"x")
    cache.forget("one")
    assert [cache.get(form, "/a/", 0, 1) for form in ("one", "two")] == [None, b"x"]
    assert len(cache) == 2
