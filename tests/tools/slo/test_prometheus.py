"""A real Prometheus scrapes a real API server with the configuration that ``pyb slo`` prints."""

from __future__ import annotations

import json
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from pybernetes.cmd import slo
from pybernetes.tools.slo.prometheus import configuration
from tests.control_plane.apiserver.verbs.config_maps import make
from tests.control_plane.store.etcd_server import free_ports
from tests.servers import TOKEN, running
from tests.support import end, require_program, until

pytestmark = pytest.mark.slow


def test_the_configuration() -> None:
    whole = json.loads(configuration("https://h:1", ["/metrics"], "/ca", "/token"))
    assert [job["metrics_path"] for job in whole["scrape_configs"]] == ["/metrics", "/metrics/slis"]
    assert whole["scrape_configs"][0]["static_configs"] == [{"targets": ["h:1"]}]
    assert "authorization" not in json.loads(configuration("https://h", ["/m"], "", ""))["scrape_configs"][0]


def test_prometheus_scrapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, port = require_program("prometheus"), free_ports(1)[0]
    with running(tmp_path) as server:
        make(server, "default", "seen")
        server.call("GET", "/readyz")
        token = tmp_path / "token"
        token.write_text(TOKEN)
        wanted = ["--prometheus-config", f"--token-file={token}", f"--ca-file={server.authority}"]
        assert slo.main([f"--kubeconfig={server.kubeconfig}", *wanted]) == 0
        file = tmp_path / "prometheus.yml"
        file.write_text(capsys.readouterr().out.replace('"15s"', '"1s"'))
        command = [str(program), f"--config.file={file}", f"--storage.tsdb.path={tmp_path / 'tsdb'}",
                   f"--web.listen-address=127.0.0.1:{port}"]  # fmt: skip
        with (tmp_path / "prometheus.log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            until(lambda: len(_up(port)) == 2, not_yet=(OSError,))
            name = "histogram_quantile(0.99, sum(apiserver_request_sli_duration_seconds_bucket) by (le))"
            until(lambda: _query(port, name))
            assert _query(port, 'kubernetes_healthcheck{name="etcd",type="readyz"} == 1')
        finally:
            end(process)
        assert slo.main([f"--kubeconfig={server.kubeconfig}"]) == 0
    assert "API calls that change objects, 99 %" in capsys.readouterr().out


def test_nobody_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert slo.main([f"--kubeconfig={tmp_path / 'nothing'}"]) == 2
    assert capsys.readouterr().err.startswith("slo: ")


def _get(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=10) as answer:
        return json.loads(answer.read())["data"]


def _up(port: int) -> list[Any]:
    return [target for target in _get(port, "targets")["activeTargets"] if target["health"] == "up"]


def _query(port: int, query: str) -> list[Any]:
    result: list[Any] = _get(port, "query?" + urllib.parse.urlencode({"query": query}))["result"]
    return result
