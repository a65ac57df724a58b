"""metrics-server: what nodes and pods use now, for `kubectl top` and autoscalers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pybernetes.cmd import _secure_serving
from pybernetes.cmd._aggregated import LOOKUP, refuse, serve_aggregated
from pybernetes.cmd._program import add_version, run
from pybernetes.cmd._secure_serving import serving_flags
from pybernetes.lib.flags import LOG_FLAGS, SERVING_FLAGS, Flag, Seconds, add, add_ignored, warn_ignored

if TYPE_CHECKING:
    from pybernetes.client.kubeconfig import Config
    from pybernetes.control_plane.metrics_server.kubelet_client import KubeletAccess

SUMMARY = "Serve what nodes and pods use now (metrics.k8s.io), from what kubelets measure"

_SERVING = (*serving_flags(443), *LOOKUP)
_METRICS = (
    Flag("kubeconfig", "", "how to reach the API server and the kubelets; by default the files of this pod"),
    Flag("metric-resolution", Seconds(60), "time between two samples while somebody asks, at least 10s"),
    Flag("node-selector", "", "labels of the nodes to look at; all of them if empty"),
)
_KUBELET = (
    Flag("kubelet-insecure-tls", False, "do not verify the certificates of kubelets; for trying out only"),
    Flag("kubelet-use-node-status-port", False, "use the port that the node says, before --kubelet-port"),
    Flag("kubelet-port", 10250, "port of kubelets"),
    Flag("kubelet-preferred-address-types", ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"),
         "which addresses of nodes to try first"),
    Flag("kubelet-certificate-authority", "", "authority of the kubelets' certificates"),
    Flag("kubelet-client-certificate", "", "certificate that kubelets know this program by"),
    Flag("kubelet-client-key", "", "its key"),
    Flag("kubelet-request-timeout", Seconds(10), "how long one kubelet may take to answer"),
)  # fmt: skip
_REFUSED = (
    Flag("deprecated-kubelet-completely-insecure", False, "kubelets are asked over TLS only: only false is taken"),
)  # fmt: skip
_IGNORED = {name: reason for name, reason in (LOG_FLAGS | SERVING_FLAGS).items() if name != "logtostderr"}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line, with upstream's names and defaults."""
    result = argparse.ArgumentParser(prog="metrics-server", description=SUMMARY, allow_abbrev=False)
    add(result.add_argument_group("metrics server"), _METRICS)
    add(result.add_argument_group("kubelet client"), (*_KUBELET, *_REFUSED))
    add(result.add_argument_group("serving"), _SERVING)
    add_ignored(result, _IGNORED)
    result.add_argument("-l", dest="node_selector", help=argparse.SUPPRESS, default="")
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    add_version(result)
    return result


def check(options: argparse.Namespace) -> None:
    """Raise ValueError for what cannot be, in upstream's words."""
    _secure_serving.check(options)
    warn_ignored(options, _IGNORED)
    refuse(options, _REFUSED)
    if options.kubelet_certificate_authority and options.kubelet_insecure_tls:
        raise ValueError("cannot use both --kubelet-certificate-authority and --kubelet-insecure-tls")
    if bool(options.kubelet_client_key) != bool(options.kubelet_client_certificate):
        raise ValueError("need both --kubelet-client-key and --kubelet-client-certificate")
    if options.kubelet_request_timeout <= 0:
        raise ValueError("kubelet-request-timeout should be positive")
    if options.metric_resolution < 10:
        raise ValueError(
            f"metric-resolution should be a time duration at least 10s, but value {options.metric_resolution:g}s provided"
        )
    if options.metric_resolution * 0.9 < options.kubelet_request_timeout:
        raise ValueError(
            "metric-resolution should be larger than kubelet-request-timeout, but metric-resolution value "
            f"{options.metric_resolution:g}s kubelet-request-timeout value {options.kubelet_request_timeout:g}s provided"
        )


def kubelet_access(options: argparse.Namespace, config: Config) -> KubeletAccess:
    """Return how kubelets are reached: with the identity of the kubeconfig, but for what flags say."""
    from pybernetes.client.credentials import Authority, Certificate
    from pybernetes.control_plane.metrics_server.kubelet_client import KubeletAccess

    context = config.credentials.context
    authority = config.credentials.trust()
    if options.kubelet_insecure_tls:
        authority = Authority(verify=False)
    elif options.kubelet_certificate_authority:
        authority = Authority(Path(options.kubelet_certificate_authority))
    if options.kubelet_client_certificate:
        files = (Path(options.kubelet_client_certificate), Path(options.kubelet_client_key))
        context = Certificate(authority, *files).context
    elif options.kubelet_insecure_tls or options.kubelet_certificate_authority:
        context = config.credentials.trusting(authority).context
    return KubeletAccess(
        context,
        config.credentials.headers,
        tuple(options.kubelet_preferred_address_types),
        options.kubelet_port,
        options.kubelet_use_node_status_port,
        float(options.kubelet_request_timeout),
    )


def main(argv: list[str]) -> int:
    """Serve until told to stop."""
    options = parser().parse_args(argv)
    from pybernetes.client.kubeconfig import ConfigError
    from pybernetes.lib import logs

    logs.set_up(options.v)
    return run("metrics-server", _serve(options), ConfigError)


async def _serve(options: argparse.Namespace) -> int:
    from pybernetes.api.selectors import parse_labels
    from pybernetes.api.zpages import flags_of
    from pybernetes.client import kubeconfig
    from pybernetes.control_plane.metrics_server.metrics_server import MetricsServer, Options
    from pybernetes.runtime.component_server import profiles, zpages_of

    check(options)
    config = kubeconfig.load(options.kubeconfig or None)
    settings = Options(
        kubelet_access(options, config),
        float(options.metric_resolution),
        parse_labels(options.node_selector),
        zpages_of("metrics-server", flags_of(options), ("/healthz", "/livez", "/metrics", "/readyz"))
        | (profiles() if options.profiling else {}),
    )
    async with config.client(user_agent="metrics-server") as client:
        return await serve_aggregated(
            options, "metrics-server", client, lambda auth: MetricsServer(client, auth, settings)
        )
