"""A real Prometheus scrapes a real API server with the configuration that ``pyb slo`` prints.

``tests/cmd/test_start_up_command_lines.py`` has it scrape every component.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pybernetes.cmd import slo
from pybernetes.tools.slo.prometheus import configuration
from pybernetes.tools.slo.targets import Target, given
from tests.control_plane.apiserver.verbs.config_maps import make
from tests.servers import TOKEN, running
from tests.support import until
from tests.tools.slo.scraping import scraping

pytestmark = pytest.mark.slow


def test_the_configuration() -> None:
    targets = [Target("kube-apiserver", "/metrics"), *given(["a=https://[::1]:2", "b=http://c/metrics/slis"])]
    whole = json.loads(configuration("https://h:1", targets, "/ca", "/token"))["scrape_configs"]
    assert [job["job_name"] for job in whole] == ["kube-apiserver/metrics", "a/metrics", "b/metrics/slis"]
    assert [job["static_configs"][0]["targets"] for job in whole] == [["h:1"], ["[::1]:2"], ["c:80"]]
    assert ["authorization" in job for job in whole] == [True, True, False]  # no token without TLS
    assert [job["tls_config"] for job in whole[:2]] == [{"ca_file": "/ca"}] * 2
    trusting = json.loads(configuration("https://h:1", targets, "/ca", "", insecure=True))["scrape_configs"]
    assert [job["tls_config"] for job in trusting[:2]] == [{"ca_file": "/ca"}, {"insecure_skip_verify": True}]


@pytest.mark.parametrize("text", ["", "a", "a=b", "=http://a", "a=ftp://b", "a=http://"])
def test_what_is_no_target(text: str) -> None:
    with pytest.raises(ValueError, match="NAME=URL"):
        given([text])


def test_prometheus_scrapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(tmp_path) as server:
        make(server, "default", "seen")
        server.call("GET", "/readyz")
        token = tmp_path / "token"
        token.write_text(TOKEN)
        wanted = ["--prometheus-config", f"--token-file={token}", f"--ca-file={server.authority}"]
        assert slo.main([f"--kubeconfig={server.kubeconfig}", *wanted]) == 0
        page = capsys.readouterr().out
        with scraping(tmp_path, page) as prometheus:
            until(lambda: list(prometheus.targets().values()) == ["", ""], not_yet=(OSError,))
            name = "histogram_quantile(0.99, sum(apiserver_request_sli_duration_seconds_bucket) by (le))"
            until(lambda: prometheus.query(name))
            assert prometheus.query('kubernetes_healthcheck{name="etcd",type="readyz"} == 1')
        (tmp_path / "native").mkdir()
        with scraping(tmp_path / "native", page, "--enable-feature=native-histograms") as prometheus:
            name = 'apiserver_request_duration_seconds{resource="configmaps",verb="POST"}'
            until(lambda: prometheus.query(f"histogram_count({name}) == 1"), not_yet=(OSError,))
            (middle,) = prometheus.query(f"histogram_quantile(0.5, {name})")
            (mean,) = prometheus.query(f"histogram_sum({name})")
            assert float(middle["value"][1]) == pytest.approx(float(mean["value"][1]), rel=0.1)
        assert slo.main([f"--kubeconfig={server.kubeconfig}"]) == 0
    assert "API calls that change objects, 99 %" in capsys.readouterr().out


def test_nobody_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert slo.main([f"--kubeconfig={tmp_path / 'nothing'}"]) == 2
    assert capsys.readouterr().err.startswith("slo: ")
