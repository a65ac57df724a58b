"""What kube-dns counts, under the names that CoreDNS has for it where there is one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.histogram import Histogram
from pybernetes.node.dns import wire

Labels: TypeAlias = tuple[tuple[str, str], ...]
_MOST_TYPES = 256
BOUNDS = tuple(0.00025 * 2**power for power in range(16))


@dataclass(slots=True)
class Metrics:
    """Plain numbers; text is made of them when somebody asks."""

    types: dict[bytes, int] = field(default_factory=dict)  # questions by type and class
    codes: list[int] = field(default_factory=lambda: [0] * 6)
    protocols: dict[tuple[str, str], int] = field(default_factory=dict)  # protocol and family
    truncated: int = 0
    durations: Histogram = field(default_factory=lambda: Histogram(BOUNDS))
    panics: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    cache_entries: int = 0
    forwarded: dict[str, int] = field(default_factory=dict)
    forward_failures: dict[str, int] = field(default_factory=dict)
    names: int = 0
    counters: dict[tuple[str, Labels], float] = field(
        default_factory=dict
    )  # those of plugins, which name them

    def count(self, name: str, labels: Labels = (), by: float = 1) -> None:
        """Count something of a plugin's."""
        key = (name, labels)
        self.counters[key] = self.counters.get(key, 0) + by

    def set(self, name: str, value: float, labels: Labels = ()) -> None:
        """Note a number of a plugin's that goes up and down."""
        self.counters[(name, labels)] = value

    def asked(self, kind: bytes) -> None:
        """Count a question by its type and class; whoever makes up types gets no memory for them."""
        types = self.types
        count = types.get(kind)
        if count is not None:
            types[kind] = count + 1
        elif len(types) < _MOST_TYPES:
            types[kind] = 1
        else:
            types[b""] = types.get(b"", 0) + 1

    def took(self, seconds: float) -> None:
        """Count how long an answer took."""
        self.durations.observe(seconds)

    def write(self, text: Exposition) -> None:
        """Add everything to a scrape."""
        text.family("coredns_dns_requests_total", "counter", "Questions by type.")
        totals: dict[str, int] = {}
        for asked, count in list(self.types.items()):
            type_ = wire.TYPES.get(int.from_bytes(asked[:2]), "other")
            totals[type_] = totals.get(type_, 0) + count
        for type_, count in totals.items():
            text.sample("coredns_dns_requests_total", (("type", type_),), count)
        text.family("coredns_dns_responses_total", "counter", "Answers by code.")
        for code, count in zip(wire.RCODES, self.codes, strict=True):
            text.sample("coredns_dns_responses_total", (("rcode", code),), count)
        text.family("coredns_dns_request_duration_seconds", "histogram", "Time from question to answer.")
        text.histogram("coredns_dns_request_duration_seconds", (), self.durations)
        text.family("kubedns_packets_total", "counter", "Messages by protocol and family of addresses.")
        for (protocol, family), count in self.protocols.items():
            text.sample("kubedns_packets_total", (("proto", protocol), ("family", family)), count)
        for name, kind, help_, value in (
            ("coredns_panics_total", "counter", "Messages that met an error of ours.", self.panics),
            ("coredns_cache_hits_total", "counter", "Forwarded questions that were known.", self.cache_hits),
            ("coredns_cache_misses_total", "counter", "Those that were not.", self.cache_misses),
            ("coredns_cache_entries", "gauge", "Answers of others that are remembered.", self.cache_entries),
            ("kubedns_truncated_total", "counter", "Answers that were too long for UDP.", self.truncated),
            ("kubedns_names", "gauge", "Names that exist in the cluster.", self.names),
        ):  # fmt: skip
            text.family(name, kind, help_)
            text.sample(name, (), value)
        for name, help_, counts in (
            ("coredns_forward_requests_total", "Questions that were sent on.", self.forwarded),
            ("coredns_forward_failures_total", "Those that had no answer.", self.forward_failures),
        ):  # fmt: skip
            text.family(name, "counter", help_)
            for to, count in counts.items():
                text.sample(name, (("to", to),), count)
        by_name: dict[str, list[tuple[Labels, float]]] = {}
        for (name, labels), number in sorted(self.counters.items()):
            by_name.setdefault(name, []).append((labels, number))
        for name, samples in by_name.items():
            text.family(name, "counter" if name.endswith("_total") else "gauge", "As CoreDNS has it.")
            for labels, number in samples:
                text.sample(name, labels, number)
