"""metrics-adapter: custom and external metrics from Prometheus."""

from __future__ import annotations

import argparse
from pathlib import Path

from pybernetes.cmd import _secure_serving
from pybernetes.cmd._aggregated import LOOKUP, refuse, serve_aggregated
from pybernetes.cmd._program import add_version, run
from pybernetes.cmd._secure_serving import serving_flags
from pybernetes.lib.flags import (
    LOG_FLAGS,
    SERVING_FLAGS,
    Flag,
    Repeated,
    Seconds,
    add,
    add_ignored,
    warn_ignored,
)

SUMMARY = "Serve custom and external metrics (custom.metrics.k8s.io, external.metrics.k8s.io) from Prometheus queries"

_SERVING = (*serving_flags(6443), *LOOKUP)
_ADAPTER = (
    Flag("config", "", "file with the rules: rules and externalRules as prometheus-adapter has them"),
    Flag("lister-kubeconfig", "", "how to reach the API server; --kubeconfig is another name for it"),
    Flag("kubeconfig", "", "how to reach the API server; by default the files of this pod"),
    Flag("prometheus-url", "https://localhost", "where Prometheus answers"),
    Flag("prometheus-ca-file", "", "authority of Prometheus' certificate; by default the system's"),
    Flag(
        "prometheus-token-file", "", "file with the bearer token for Prometheus; it is read for each question"
    ),
    Flag("prometheus-header", Repeated(), "a header for Prometheus, as name=value; may be given again"),
    Flag("metrics-relist-interval", Seconds(600), "how old the list of series may be"),
    Flag(
        "metrics-max-age",
        Seconds(0),
        "how far back series are looked for; 0: twice as far as the list is old",
    ),
)
_REFUSED = (
    Flag("prometheus-auth-config", "", "there is no kubeconfig for Prometheus, see --prometheus-token-file"),
    Flag("prometheus-auth-incluster", False, "as above"),
    Flag("prometheus-client-tls-cert-file", "", "Prometheus is not shown a certificate"),
    Flag("prometheus-client-tls-key-file", "", "as above"),
    Flag("prometheus-verb", "GET", "Prometheus is asked with GET"),
    Flag("disable-http2", False, "HTTP/1.1 is spoken anyway: only false is taken"),
)
_IGNORED = {
    name: reason
    for name, reason in (LOG_FLAGS | SERVING_FLAGS).items()
    if name in ("log-flush-frequency", "logging-format", "vmodule", "contention-profiling")
}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with upstream's names and defaults."""
    result = argparse.ArgumentParser(prog="metrics-adapter", description=SUMMARY, allow_abbrev=False)
    add(result.add_argument_group("metrics adapter"), (*_ADAPTER, *_REFUSED))
    add(result.add_argument_group("serving"), _SERVING)
    add_ignored(result, _IGNORED)
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    add_version(result)
    return result


def main(argv: list[str]) -> int:
    """Serve until told to stop."""
    options = parser().parse_args(argv)
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs

    logs.set_up(options.v)
    return run("metrics-adapter", _serve(options), ConfigError)


async def _serve(options: argparse.Namespace) -> int:
    import yaml

    from pybernetes.api.zpages import flags_of
    from pybernetes.client import kubeconfig
    from pybernetes.control_plane.metrics_adapter import config as rules
    from pybernetes.control_plane.metrics_adapter.catalogue import Ages
    from pybernetes.control_plane.metrics_adapter.metrics_adapter import MetricsAdapter, Options
    from pybernetes.control_plane.metrics_adapter.prometheus_client import PrometheusClient
    from pybernetes.lib.tls import tls
    from pybernetes.runtime.component_server import profiles, zpages_of

    _secure_serving.check(options)
    warn_ignored(options, _IGNORED)
    refuse(options, _REFUSED)
    if not options.config:
        raise ValueError("--config: no rules, no metrics; the file is missing")
    try:
        custom, external = rules.read(yaml.safe_load(Path(options.config).read_text()))
    except yaml.YAMLError as error:
        raise ValueError(f"{options.config}: {error}") from None
    if not custom and not external:
        raise ValueError(f"{options.config}: there are no rules in it")
    options.kubeconfig = options.lister_kubeconfig or options.kubeconfig
    headers = dict(text.partition("=")[::2] for text in options.prometheus_header)
    authority = tls.client_context(options.prometheus_ca_file) if options.prometheus_ca_file else None
    token = Path(options.prometheus_token_file) if options.prometheus_token_file else None
    prometheus = PrometheusClient(options.prometheus_url, authority, token_file=token, headers=headers)
    relist = float(options.metrics_relist_interval)
    settings = Options(
        custom, external, Ages(relist, float(options.metrics_max_age) or 2 * relist),
        zpages_of("metrics-adapter", flags_of(options), ("/healthz", "/livez", "/metrics", "/readyz"))
        | (profiles() if options.profiling else {}),
    )  # fmt: skip
    async with kubeconfig.load(options.kubeconfig or None).client(user_agent="metrics-adapter") as client:
        return await serve_aggregated(
            options,
            "metrics-adapter",
            client,
            lambda auth: MetricsAdapter(client, auth, prometheus, settings),
        )
