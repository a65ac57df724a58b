"""What is written is read by protobuf's own library, by the definition of Prometheus' messages."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from pybernetes.lib.metrics.exposition import Exposition, negotiated
from pybernetes.lib.metrics.histogram import Histogram
from pybernetes.lib.metrics.protobuf_exposition import ProtobufExposition
from pybernetes.lib.protobuf_wire import varint

# Fields by message: name, number, type (d: double, u: uint64, s: sint64, i: int64, t: string, or a message), * if repeated.
MESSAGES = {
    "LabelPair": "name 1 t,value 2 t",
    "Number": "value 1 d",
    "Bucket": "cumulative_count 1 u,upper_bound 2 d",
    "BucketSpan": "offset 1 s,length 2 u",
    "Histogram": "sample_count 1 u,sample_sum 2 d,bucket 3 Bucket*,schema 5 s,zero_threshold 6 d,zero_count 7 u,"
    "positive_span 12 BucketSpan*,positive_delta 13 s*",
    "Metric": "label 1 LabelPair*,gauge 2 Number,counter 3 Number,untyped 5 Number,timestamp_ms 6 i,histogram 7 Histogram",
    "MetricFamily": "name 1 t,help 2 t,type 3 i,metric 4 Metric*",
}  # fmt: skip
TYPES = {"d": 1, "i": 3, "u": 4, "t": 9, "s": 18}
ACCEPT = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def family_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="metrics.proto", package="p", syntax="proto2")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields.split(","):
            field_name, number, kind = field.split()
            repeated, kind = kind.endswith("*"), kind.rstrip("*")
            added = message.field.add(name=field_name, number=int(number), label=3 if repeated else 1)
            if kind in TYPES:
                added.type = TYPES[kind]
            else:
                added.type, added.type_name = 11, f".p.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("p.MetricFamily"))


def families(data: bytes) -> dict[str, Any]:
    """Return the families of a page by name."""
    result, position, kind = {}, 0, family_class()
    while position < len(data):
        size, position = varint(data, position)
        family = kind.FromString(data[position : position + size])
        result[family.name] = family
        position += size
    return result


def written(native: bool = True) -> dict[str, Any]:
    out = ProtobufExposition(native)
    out.family("empty", "gauge", "Nothing.")
    out.family("c_total", "counter", "Counted.")
    out.sample("c_total", (("zone", 'ä"\n'),), 3)
    out.sample("c_total", (), 1.5, 1234)
    out.family("h", "histogram", "Seen.")
    histogram = Histogram((1.0, 2.0))
    for value in (0, 0.9, 1.0, 1.0, 1.5, 64.0):
        histogram.observe(value)
    out.histogram("h", (("of", "x"),), histogram)
    out.process()
    return families(out.render())


def test_samples() -> None:
    page = written()
    assert "empty" not in page and page["process_cpu_seconds_total"].type == 0
    first, second = page["c_total"].metric
    assert page["c_total"].help == "Counted." and page["c_total"].type == 0
    assert [(pair.name, pair.value) for pair in first.label] == [("zone", 'ä"\n')]
    assert first.counter.value == 3 and not first.HasField("timestamp_ms")
    assert second.counter.value == 1.5 and second.timestamp_ms == 1234
    assert page["process_max_fds"].type == 1 and page["process_max_fds"].metric[0].gauge.value > 0


def test_histograms_have_both_forms() -> None:
    page = written()
    histogram = page["h"].metric[0].histogram
    assert page["h"].type == 4 and histogram.sample_count == 6 and histogram.sample_sum == pytest.approx(68.4)
    assert [(bucket.upper_bound, bucket.cumulative_count) for bucket in histogram.bucket] == [
        (1.0, 4),
        (2.0, 5),
    ]
    assert histogram.schema == 3 and histogram.zero_count == 1 and 0 < histogram.zero_threshold < 1e-8
    keys: list[int] = []
    position = 0
    for span in histogram.positive_span:
        position += span.offset
        keys += range(position, position + span.length)
        position += span.length
    counts = [sum(histogram.positive_delta[: place + 1]) for place in range(len(histogram.positive_delta))]
    # 0.9 ends at 2 to the minus first eighth, which is key -1; 1 at key 0; 1.5 at key 5; 64 at key 48.
    assert dict(zip(keys, counts, strict=True)) == {-1: 1, 0: 2, 5: 1, 48: 1}


def test_without_native_histograms() -> None:
    histogram = written(native=False)["h"].metric[0].histogram
    assert len(histogram.bucket) == 2 and not histogram.positive_span and not histogram.HasField("schema")


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", Exposition),
        ("*/*", Exposition),
        ("text/plain;version=0.0.4", Exposition),
        ("application/openmetrics-text;version=1.0.0", Exposition),
        (ACCEPT, ProtobufExposition),
        (ACCEPT.replace("q=0.6", "q=0.4"), Exposition),
        (ACCEPT.replace("delimited", "text"), Exposition),
        (ACCEPT.replace("MetricFamily", "Other"), Exposition),
        ("application/vnd.google.protobuf", Exposition),
    ],
)
def test_what_is_asked_for(accept: str, kind: type[Exposition]) -> None:
    assert type(negotiated(accept)) is kind
