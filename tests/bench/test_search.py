from bench.search import _QUERIES, measure


def test_every_query_is_measured() -> None:
    assert set(_QUERIES) < set(measure(300))
