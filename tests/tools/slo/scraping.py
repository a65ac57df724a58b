"""A real Prometheus that scrapes what a configuration names."""

from __future__ import annotations

import json
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.control_plane.store.etcd_server import free_ports
from tests.support import end, require_program


class Prometheus:
    """What a running Prometheus knows."""

    def __init__(self, port: int) -> None:
        self._port = port

    def get(self, path: str) -> Any:
        """Return the data of an answer."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/api/v1/{path}", timeout=10) as answer:
            return json.loads(answer.read())["data"]

    def targets(self) -> dict[str, str]:
        """Return what became of the last scrape of each job: nothing if it was good, else why not."""
        return {
            target["labels"]["job"]: target["lastError"] if target["health"] != "unknown" else "not asked yet"
            for target in self.get("targets")["activeTargets"]
        }

    def query(self, query: str) -> list[Any]:
        """Return the result of a query."""
        result: list[Any] = self.get("query?" + urllib.parse.urlencode({"query": query}))["result"]
        return result


@contextmanager
def scraping(directory: Path, configuration: str, *flags: str) -> Iterator[Prometheus]:
    """Run Prometheus with a configuration that pyb slo printed, once a second instead of every 15."""
    program, port = require_program("prometheus"), free_ports(1)[0]
    file = directory / "prometheus.yml"
    file.write_text(configuration.replace('"15s"', '"1s"'))
    command = [str(program), f"--config.file={file}", f"--storage.tsdb.path={directory / 'tsdb'}",
               f"--web.listen-address=127.0.0.1:{port}", *flags]  # fmt: skip
    with (directory / "prometheus.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield Prometheus(port)
    finally:
        end(process)
