"""What encryption has to tell, under upstream's names."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from pybernetes.control_plane.apiserver.config_reloads import ConfigReloads, hashed
from pybernetes.lib.metrics.exposition import Exposition
from pybernetes.lib.metrics.histogram import Histogram

DURATIONS = tuple(5e-6 * 2**power for power in range(25))
KEY_DURATIONS = DURATIONS[:14]
CALL_DURATIONS = tuple(1e-4 * 2**power for power in range(20))
# Key ids come from outside: so many are told of.
_MOST_KEY_IDS = 100


@dataclass
class EncryptionMetrics:
    """Everything that is counted. ``server`` is the name of this server among its like."""

    server: str = ""
    clock: Callable[[], float] = time.time
    misses: int = 0
    _operations: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    _durations: dict[tuple[str, str], Histogram] = field(default_factory=dict)
    _keys: Histogram = field(default_factory=lambda: Histogram(KEY_DURATIONS))
    _key_ids: dict[tuple[str, str, str], tuple[int, float]] = field(default_factory=dict)
    _status_key_ids: dict[tuple[str, str], float] = field(default_factory=dict)
    _invalid_key_ids: dict[tuple[str, str], int] = field(default_factory=dict)
    _calls: dict[tuple[str, str, str], Histogram] = field(default_factory=dict)
    cache_sizes: dict[str, int] = field(default_factory=dict)
    reloads: ConfigReloads = field(default_factory=lambda: ConfigReloads("encryption"))

    def __post_init__(self) -> None:
        self.reloads.server = self.server

    def transformed(self, resource: str, direction: str, prefix: str, status: str, seconds: float) -> None:
        """Count one value on its way to the store or from it."""
        key = (resource, direction, prefix, status)
        self._operations[key] = self._operations.get(key, 0) + 1
        if status == "OK":
            histogram = self._durations.get((direction, prefix))
            if histogram is None:
                histogram = self._durations[direction, prefix] = Histogram(DURATIONS)
            histogram.observe(seconds)

    def made_key(self, seconds: float) -> None:
        """Count a data encryption key that was made."""
        self._keys.observe(seconds)

    def used_key_id(self, direction: str, provider: str, key_id: str) -> None:
        """Count the use of a key of a plug-in."""
        key = (direction, provider, key_id)
        count, _ = self._key_ids.pop(key, (0, 0.0))
        self._key_ids[key] = (count + 1, self.clock())
        if len(self._key_ids) > _MOST_KEY_IDS:
            del self._key_ids[next(iter(self._key_ids))]

    def status_key_id(self, provider: str, key_id: str) -> None:
        """Note which key a plug-in says that it uses."""
        self._status_key_ids.pop((provider, key_id), None)
        self._status_key_ids[provider, key_id] = self.clock()
        if len(self._status_key_ids) > _MOST_KEY_IDS:
            del self._status_key_ids[next(iter(self._status_key_ids))]

    def invalid_key_id(self, provider: str, problem: str) -> None:
        """Count a key id that makes no sense."""
        self._invalid_key_ids[provider, problem] = self._invalid_key_ids.get((provider, problem), 0) + 1

    def called(self, provider: str, method: str, code: str, seconds: float) -> None:
        """Count a call of a plug-in."""
        key = (provider, method, code)
        if key not in self._calls:
            self._calls[key] = Histogram(CALL_DURATIONS)
        self._calls[key].observe(seconds)

    # -- told to whoever scrapes ------------------------------------------------------------------------------

    def render(self, out: Exposition) -> None:
        """Write all metrics."""
        server = ("apiserver_id_hash", hashed(self.server))
        self._render_values(out)
        self._render_envelopes(out, server)
        self.reloads.render(out)

    def _render_values(self, out: Exposition) -> None:
        begin = "apiserver_storage_"
        name = f"{begin}transformation_operations_total"
        out.family(name, "counter", "Total number of transformations.")
        for (resource, direction, prefix, status), count in list(self._operations.items()):
            labels = [
                ("resource", resource),
                ("status", status),
                ("transformation_type", direction),
                ("transformer_prefix", prefix),
            ]
            out.sample(name, labels, count)
        name = f"{begin}transformation_duration_seconds"
        out.family(name, "histogram", "Latencies in seconds of value transformation operations.")
        for (direction, prefix), histogram in list(self._durations.items()):
            labels = [("transformation_type", direction), ("transformer_prefix", prefix)]
            out.histogram(name, labels, histogram)
        name = f"{begin}envelope_transformation_cache_misses_total"
        out.family(name, "counter", "Total number of cache misses while accessing key decryption key(KEK).")
        out.sample(name, (), self.misses)
        name = f"{begin}data_key_generation_duration_seconds"
        out.family(
            name, "histogram", "Latencies in seconds of data encryption key(DEK) generation operations."
        )
        out.histogram(name, (), self._keys)
        name = f"{begin}data_key_generation_failures_total"
        out.family(name, "counter", "Total number of failed data encryption key(DEK) generation operations.")
        out.sample(name, (), 0)

    def _render_envelopes(self, out: Exposition, server: tuple[str, str]) -> None:
        begin = "apiserver_envelope_encryption_"
        used = [
            ([server, ("key_id_hash", hashed(key_id)), ("provider_name", provider), ("transformation_type", direction)], entry)
            for (direction, provider, key_id), entry in list(self._key_ids.items())
        ]  # fmt: skip
        out.family(
            f"{begin}key_id_hash_total",
            "counter",
            "Number of times a keyID is used split by transformation type, provider, and apiserver identity.",
        )
        for labels, (count, _) in used:
            out.sample(f"{begin}key_id_hash_total", labels, count)
        name = f"{begin}key_id_hash_last_timestamp_seconds"
        out.family(name, "gauge", "The last time in seconds when a keyID was used.")
        for labels, (_, moment) in used:
            out.sample(name, labels, moment)
        name = f"{begin}key_id_hash_status_last_timestamp_seconds"
        out.family(
            name, "gauge", "The last time in seconds when a keyID was returned by the Status RPC call."
        )
        for (provider, key_id), moment in list(self._status_key_ids.items()):
            out.sample(name, [server, ("key_id_hash", hashed(key_id)), ("provider_name", provider)], moment)
        name = f"{begin}invalid_key_id_from_status_total"
        out.family(
            name,
            "counter",
            "Number of times an invalid keyID is returned by the Status RPC call split by error.",
        )
        for (provider, problem), count in list(self._invalid_key_ids.items()):
            out.sample(name, [("error", problem), ("provider_name", provider)], count)
        name = f"{begin}dek_source_cache_size"
        out.family(name, "gauge", "Number of records in data encryption key (DEK) source cache.")
        for provider, size in list(self.cache_sizes.items()):
            out.sample(name, [("provider_name", provider)], size)
        name = f"{begin}kms_operations_latency_seconds"
        out.family(name, "histogram", "KMS operation duration with gRPC error code status total.")
        for (provider, method, code), histogram in list(self._calls.items()):
            labels = [("grpc_status_code", code), ("method_name", method), ("provider_name", provider)]
            out.histogram(name, labels, histogram)
