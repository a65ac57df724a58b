"""Writes metrics as Prometheus' protocol buffers, which have room for native histograms: MetricFamily messages with their sizes."""

from __future__ import annotations

import struct

from pybernetes.lib.metrics.exposition import Exposition, Labels
from pybernetes.lib.metrics.histogram import Histogram
from pybernetes.lib.protobuf_wire import BYTES, FIXED64, VARINT, number

MEDIA_TYPE = "application/vnd.google.protobuf"
MESSAGE = "io.prometheus.client.MetricFamily"
# The kinds of families by the numbers that they have here, and the field of a metric that holds their value.
_KINDS = {"counter": (0, 3), "gauge": (1, 2), "untyped": (3, 5), "histogram": (4, 7)}


class ProtobufExposition(Exposition):
    """Collect the families of one scrape; without ``native``, histograms have their classic form alone."""

    content_type = f"{MEDIA_TYPE}; proto={MESSAGE}; encoding=delimited".encode()

    def __init__(self, native: bool = True) -> None:
        super().__init__()
        self._native = native
        self._families: list[tuple[bytes, list[bytes]]] = []
        self._value = 0

    def family(self, name: str, kind: str, text: str) -> None:
        """Begin a family of metrics; its samples follow."""
        kind_number, self._value = _KINDS[kind]
        self._families.append((_text(1, name) + _text(2, text) + _number(3, kind_number), []))

    def sample(self, name: str, labels: Labels, value: float, moment: int | None = None) -> None:
        """Write one sample."""
        self._metric(labels, _double(1, value), b"" if moment is None else _number(6, moment))

    def histogram(self, name: str, labels: Labels, histogram: Histogram) -> None:
        """Write a histogram, in both forms."""
        counts = histogram.counts
        message = [_number(1, sum(counts)), _double(2, histogram.total)]
        running = 0
        for bound, count in zip(histogram.bounds, counts, strict=False):  # the last is in the number of all
            running += count
            message.append(_bytes(3, _number(1, running) + _double(2, bound)))
        if self._native:
            message.append(_native(histogram))
        self._metric(labels, b"".join(message), b"")

    def _metric(self, labels: Labels, value: bytes, rest: bytes) -> None:
        pairs = b"".join(_bytes(1, _text(1, key) + _text(2, label)) for key, label in labels)
        self._families[-1][1].append(_bytes(4, pairs + _bytes(self._value, value) + rest))

    def render(self) -> bytes:
        """Return all families that have samples, each after its size."""
        out = bytearray()
        for head, metrics in self._families:
            if metrics:
                message = head + b"".join(metrics)
                out += number(len(message)) + message
        return bytes(out)


def _native(histogram: Histogram) -> bytes:
    native = histogram.native()
    spans: list[list[int]] = []  # the distance to the span before, and how many buckets follow
    deltas: list[bytes] = []
    after, before = 0, 0
    for key, count in sorted(native.buckets.items()):
        if not spans or key != after:
            spans.append([key - after, 0])
        spans[-1][1] += 1
        deltas.append(_number(13, _zigzag(count - before)))
        after, before = key + 1, count
    return b"".join(
        (
            _number(5, _zigzag(native.schema)),
            _double(6, native.zero_threshold),
            _number(7, native.zero_count),
            *(_bytes(12, _number(1, _zigzag(offset)) + _number(2, length)) for offset, length in spans),
            *deltas,
        )
    )


def _zigzag(value: int) -> int:
    return value << 1 if value >= 0 else (-value << 1) - 1


def _number(field: int, value: int) -> bytes:
    return number(field << 3 | VARINT) + number(value)


def _double(field: int, value: float) -> bytes:
    return number(field << 3 | FIXED64) + struct.pack("<d", value)


def _bytes(field: int, value: bytes) -> bytes:
    return number(field << 3 | BYTES) + number(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode("utf-8", "replace"))
