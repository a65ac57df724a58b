"""metrics-adapter as a program: its command line, and a run of it from start to stop."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from pybernetes.cmd import metrics_adapter
from tests.aggregated import program
from tests.cluster import TOKEN, Cluster
from tests.cmd.test_kube_scheduler import get

RULES = """
externalRules:
- seriesQuery: sales
  resources: {namespaced: false}
  metricsQuery: <<.Series>>{<<.LabelMatchers>>}
"""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "--config: no rules, no metrics"),
        (["--config=/nowhere"], "/nowhere"),
        (["--config=EMPTY"], "there are no rules in it"),
        (["--config=BROKEN"], "while parsing a flow"),
        (["--config=RULES", "--prometheus-url=file:///etc/passwd"], "no URL"),
        (["--config=RULES", "--prometheus-auth-config=/a"], "--prometheus-auth-config is not supported"),
        (["--config=RULES", "--prometheus-auth-incluster"], "--prometheus-auth-incluster is not supported"),
        (["--config=RULES", "--prometheus-client-tls-cert-file=/a"], "--prometheus-client-tls-cert-file is not supported"),
        (["--config=RULES", "--prometheus-client-tls-key-file=/a"], "--prometheus-client-tls-key-file is not supported"),
        (["--config=RULES", "--prometheus-verb=POST"], "--prometheus-verb is not supported"),
        (["--config=RULES", "--disable-http2"], "--disable-http2 is not supported"),
        (["--config=RULES", "--kubeconfig=/nowhere"], "/nowhere"),
        (["--config=RULES", "--port=80"], "there is no port without TLS"),
    ],
)  # fmt: skip
def test_what_cannot_be(
    arguments: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"RULES": RULES, "EMPTY": "rules: []\n", "BROKEN": "rules: [\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        arguments = [argument.replace(f"={name}", f"={tmp_path / name}") for argument in arguments]
    assert metrics_adapter.main(arguments) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("metrics-adapter: ") and complaint in printed


async def test_from_start_to_stop_without_prometheus(tmp_path: Path) -> None:
    (tmp_path / "rules").write_text(RULES)
    flags = (f"--config={tmp_path / 'rules'}", "--prometheus-url=http://127.0.0.1:1")
    async with (
        Cluster() as cluster,
        program("metrics-adapter", cluster, tmp_path / "log", *flags) as port,
    ):

        async def page(path: str, token: str = TOKEN) -> tuple[int, str]:
            return await asyncio.to_thread(get, port, path, token)

        root = "/apis/external.metrics.k8s.io/v1beta1"
        assert (await page(f"{root}/namespaces/default/sales", token="wrong"))[0] == 401
        code, text = await page(f"{root}/namespaces/default/sales")
        assert code == 500 and "unable to fetch metrics from Prometheus" in json.loads(text)["message"]
        assert (await page("/metrics"))[0] == 200
