"""Asks Prometheus. What it answers is checked: figures that are none are left out."""

from __future__ import annotations

import math
import ssl
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

import orjson

from pybernetes.api import errors, quantity
from pybernetes.lib.event_loop import off_loop
from pybernetes.lib.http.client import HttpClient, RequestFailed
from pybernetes.lib.http.fetching import located

Read = TypeVar("Read")
_SECONDS = 30.0
_MOST_BYTES = 64 * 1024 * 1024
_ENTRY_BYTES = 200  # that a series with its labels has about
_LARGEST = 2.0**63 / 1000
_LONGEST_TEXT = 512  # of what it complains about


class Sample(NamedTuple):
    """One figure of a vector."""

    labels: dict[str, str]
    time: float
    value: float

    @property
    def quantity(self) -> str:
        """The figure in thousandths, as the API has it."""
        return quantity.format_like(Fraction(int(self.value * 1000), 1000), "1")


class PrometheusClient:
    """A Prometheus at a URL."""

    def __init__(
        self, url: str, context: ssl.SSLContext | None = None, *, token_file: Path | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        try:
            self._peer, path = located(url, context)
        except ValueError:
            raise ValueError(f"--prometheus-url: {url} is no URL with http or https") from None
        self._path = path.partition("?")[0].rstrip("/")
        self._token_file, self._headers = token_file, dict(headers or {})
        self._http = HttpClient(most_bytes=_MOST_BYTES)

    async def _ask(self, path: str, parameters: Sequence[tuple[str, str]]) -> Any:
        headers = {"Accept": "application/json", **self._headers}
        if self._token_file is not None:
            headers["Authorization"] = f"Bearer {self._token_file.read_text().strip()}"
        target = f"{self._path}{path}?{urlencode(parameters)}"
        try:
            reply = await self._http.send(self._peer, "GET", target, b"", headers, _SECONDS)
            answer = await off_loop.run(len(reply.body), orjson.loads, reply.body)
        except (RequestFailed, OSError, ValueError) as error:
            raise errors.internal(f"unable to fetch metrics from Prometheus: {error}") from None
        if reply.status != 200 or not isinstance(answer, dict) or answer.get("status") != "success":
            why = answer.get("error", reply.status) if isinstance(answer, dict) else reply.status
            raise errors.internal(f"unable to fetch metrics from Prometheus: {str(why)[:_LONGEST_TEXT]}")
        return answer.get("data")

    async def series(self, query: str, since: float) -> list[dict[str, str]]:
        """Return the labels of the series that a query selects, as far as they were there since a moment."""
        data = await self._ask("/api/v1/series", [("match[]", query), ("start", f"{since:.3f}")])
        return await _read_entries(_labels, data)

    async def vector(self, query: str) -> list[Sample]:
        """Return the figures of now."""
        data = await self._ask("/api/v1/query", [("query", query)])
        if not isinstance(data, dict) or data.get("resultType") != "vector":
            raise errors.internal("unable to fetch metrics from Prometheus: the answer is no vector")
        return [sample for sample in await _read_entries(_sample, data.get("result")) if sample is not None]

    def close(self) -> None:
        """End every connection."""
        self._http.close()


async def _read_entries(read: Callable[[Any], Read], data: Any) -> list[Read]:
    """Return what each object of a list is read as, beside the loop if they are many."""
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    return await off_loop.run(_ENTRY_BYTES * len(entries), lambda: [read(entry) for entry in entries])


def _labels(entry: Any) -> dict[str, str]:
    return {name: value for name, value in entry.items() if isinstance(value, str)}


def _sample(entry: Any) -> Sample | None:
    try:
        moment, text = entry["value"]
        value = float(text)
        labels = _labels(entry["metric"])
        time = float(moment)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    if not math.isfinite(value) or abs(value) >= _LARGEST or not math.isfinite(time):
        return None
    return Sample(labels, time, value)
