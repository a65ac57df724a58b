"""Indicators from pages of metrics."""

from __future__ import annotations

import math

import pytest

from pybernetes.tools.slo.indicators import Sample, indicators, parse, quantile

PAGE = """
# TYPE apiserver_request_sli_duration_seconds histogram
apiserver_request_sli_duration_seconds_bucket{resource="pods",scope="resource",subresource="",verb="POST",le="0.05"} 98
apiserver_request_sli_duration_seconds_bucket{resource="pods",scope="resource",subresource="",verb="POST",le="2"} 100
apiserver_request_sli_duration_seconds_bucket{resource="pods",scope="resource",subresource="",verb="POST",le="+Inf"} 100
apiserver_request_sli_duration_seconds_bucket{resource="pods",scope="resource",subresource="exec",verb="POST",le="+Inf"} 9
apiserver_request_sli_duration_seconds_bucket{resource="pods",scope="cluster",subresource="",verb="LIST",le="0.05"} 4
apiserver_request_sli_duration_seconds_bucket{resource="pods",scope="cluster",subresource="",verb="LIST",le="+Inf"} 4
nonsense
half{a="b" 3
kubelet_pod_start_sli_duration_seconds_bucket{le="0.5"} 0
kubelet_pod_start_sli_duration_seconds_bucket{le="1"} 10
kubelet_pod_start_sli_duration_seconds_bucket{le="+Inf"} 10
"""


def test_parse() -> None:
    assert parse('a{b="c\\"d"} 1\n# HELP x y\ne 2.5 123\nf NaNs') == [
        Sample("a", {"b": 'c\\"d'}, 1.0),
        Sample("e", {}, 2.5),
    ]


@pytest.mark.parametrize(
    ("buckets", "expected"),
    [
        ({}, math.nan),
        ({math.inf: 0.0}, math.nan),
        ({1.0: 100.0, math.inf: 100.0}, 0.99),
        ({1.0: 0.0, 2.0: 100.0, math.inf: 100.0}, 1.99),
        ({1.0: 50.0, math.inf: 100.0}, 1.0),
    ],
)
def test_quantile(buckets: dict[float, float], expected: float) -> None:
    assert quantile(0.99, buckets) == pytest.approx(expected, nan_ok=True)


def test_what_a_cluster_is_held_against() -> None:
    writes, reads, lists, scheduling, starts = indicators(parse(PAGE))
    assert (writes.requests, writes.met) == (100, False) and writes.seconds == pytest.approx(1.025)
    assert reads.requests == 0 and reads.met and math.isnan(reads.seconds)
    assert (lists.requests, lists.met) == (4, True)
    assert scheduling.met and starts.seconds == pytest.approx(0.995) and starts.objective == 5.0
