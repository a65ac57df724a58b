"""A TracingConfiguration, of a file of its own or within the kubelet's: where spans are sent, and of how many."""

from __future__ import annotations

from urllib.parse import urlsplit

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.lib.tracing import ENDPOINT, MILLION, TracingSettings

_SCHEMES = ("dns", "unix", "unix-abstract")


def problems(document: Object, path: Path | None = None) -> Errors:
    """Return what is wrong with a configuration, in upstream's words."""
    wrong, rate = Errors(), document.get("samplingRatePerMillion") or 0
    rate_path = path / "samplingRatePerMillion" if path else Path("samplingRatePerMillion")
    if rate < 0:
        wrong.invalid(rate_path, rate, "sampling rate must be positive")
    if rate > MILLION:
        wrong.invalid(rate_path, rate, "sampling rate per million must be less than or equal to one million")
    endpoint = document.get("endpoint") or ENDPOINT
    scheme = urlsplit(endpoint).scheme if "//" in endpoint else "dns"
    if scheme not in _SCHEMES:
        text = (
            f"unsupported scheme: {scheme}.  Options are none, dns, unix, or unix-abstract.  "
            "See https://github.com/grpc/grpc/blob/master/doc/naming.md"
        )
        wrong.invalid(path / "endpoint" if path else Path("endpoint"), endpoint, text)
    return wrong


def settings(document: Object) -> TracingSettings:
    """Return what a configuration without problems says."""
    return TracingSettings(document.get("endpoint") or ENDPOINT, document.get("samplingRatePerMillion") or 0)
