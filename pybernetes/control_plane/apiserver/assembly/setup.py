"""From the command line to the parts of a server."""

from __future__ import annotations

import argparse
import logging
import socket
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pybernetes.api import feature_gates, protobuf, registry, zpages
from pybernetes.api.coordination import lease
from pybernetes.api.core.pod.validation.privileged import without_privileged
from pybernetes.api.feature_gates import COORDINATED
from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.admission.setup import select
from pybernetes.control_plane.apiserver.aggregation.proxy import Identity
from pybernetes.control_plane.apiserver.assembly import runtime_config, upstream_flags
from pybernetes.control_plane.apiserver.assembly.identity_lease import identity
from pybernetes.control_plane.apiserver.assembly.secure_serving import advertised, certificates, serving
from pybernetes.control_plane.apiserver.assembly.settings import Settings
from pybernetes.control_plane.apiserver.audit import setup as auditing
from pybernetes.control_plane.apiserver.authn.client_ca_publisher import ClientAuthorities
from pybernetes.control_plane.apiserver.authn.setup import authentication, bundles, issuers
from pybernetes.control_plane.apiserver.authz.setup import authorizers, structured
from pybernetes.control_plane.apiserver.encryption.setup import encryption
from pybernetes.control_plane.apiserver.observability import tracing
from pybernetes.control_plane.apiserver.proxy import egress_selector, kubelets
from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.control_plane.apiserver.storage.resource_version import check, stamp
from pybernetes.control_plane.store.open import open_chosen
from pybernetes.control_plane.store.protocol import Store
from pybernetes.lib import flags
from pybernetes.lib.tls import tls

log = logging.getLogger(__name__)
STORAGE_MEDIA_TYPES = ("application/json", protobuf.MEDIA_TYPE)


def store(arguments: argparse.Namespace, settings: Settings) -> Store:
    """Return the store that the flags choose; the settings say how its values are encrypted."""
    dialer = settings.egress.proxied(egress_selector.ETCD)
    return open_chosen(arguments, stamp, check, settings.encryption, dialer)


def settings(arguments: argparse.Namespace) -> Settings:
    """Return everything else that the flags say."""
    result = Settings(host=arguments.bind_address, port=arguments.secure_port)
    if arguments.storage_media_type not in ("", *STORAGE_MEDIA_TYPES):
        allowed = ", ".join(STORAGE_MEDIA_TYPES)
        raise ValueError(
            f'--storage-media-type "{arguments.storage_media_type}" invalid, allowed values: {allowed}'
        )
    result.storage_media_type = arguments.storage_media_type or STORAGE_MEDIA_TYPES[0]
    flags.check(arguments, upstream_flags.OTHER_FLAGS)
    result.feature_gates = feature_gates.from_flag(
        arguments.feature_gates, feature_gates.HONOURED["kube-apiserver"]
    )
    result.resources = _resources(arguments, result.feature_gates[COORDINATED])
    result.profiling = arguments.profiling
    result.health_seconds = arguments.etcd_healthcheck_timeout, arguments.etcd_readycheck_timeout
    result.request_seconds, result.watch_seconds = arguments.request_timeout, arguments.min_request_timeout
    result.transport_security = strict_transport_security(arguments.strict_transport_security_directives)
    if result.request_seconds <= 0:
        raise ValueError("--request-timeout can not be negative value")
    if result.watch_seconds < 0:
        raise ValueError("--min-request-timeout can not be negative value")
    server = identity(socket.gethostname())
    result.encryption = encryption(arguments, registry.everything(), server)
    if arguments.egress_selector_config_file:
        result.egress = egress_selector.load(arguments.egress_selector_config_file)
    believed = issuers(arguments, server, result.egress)
    chain = structured(arguments, server)
    spans = tracing.load(arguments.tracing_config_file) if arguments.tracing_config_file else None
    # Every file is read before the first one is written: what is wrong with one ends the program with nothing touched.
    result.auditor = auditing.auditor(arguments, result.egress.of_control_plane())
    result.admission = select(arguments)
    builders = authorizers(arguments) if chain is None else []
    result.config_files = [believed.follow, *([chain.follow] if chain is not None else [])]
    result.advertise_address = advertised(arguments)
    result.flags = zpages.flags_of(arguments)
    result.external_hostname = arguments.external_hostname
    result.delay_seconds = arguments.shutdown_delay_duration
    result.compaction_seconds = arguments.etcd_compaction_interval
    result.watchdog_seconds = arguments.event_loop_watchdog
    result.services = ServiceOptions.parse(
        arguments.service_cluster_ip_range, arguments.service_node_port_range
    )
    pair, own = certificates(arguments)
    clients, proxies = bundles(arguments, own)
    result.serving = serving(arguments, pair, [bundle for bundle in (clients, proxies) if bundle is not None])
    anonymous = arguments.anonymous_auth
    types = chain.types if chain is not None else arguments.authorization_mode.split(",")
    if anonymous and "AlwaysAllow" in types:
        log.warning(
            "clients without credentials are refused, because AlwaysAllow would let them do everything"
        )
        anonymous = False
    result.authentication = authentication(arguments, clients, proxies, anonymous, believed)
    result.trust = ClientAuthorities(
        clients, proxies, arguments.requestheader_allowed_names, arguments.requestheader_username_headers,
        arguments.requestheader_uid_headers, arguments.requestheader_group_headers,
        arguments.requestheader_extra_headers_prefix,
    )  # fmt: skip
    result.nodes = kubelets.access(arguments)
    result.egress.lead(result.nodes)
    if arguments.enable_priority_and_fairness:
        result.seats = arguments.max_requests_inflight + arguments.max_mutating_requests_inflight
    else:
        result.seats = 0
    result.proxy = proxy_identity(arguments, own)
    if chain is not None:
        result.authorizers = chain.build
    else:
        result.authorizers = lambda context: [build(context) for build in builders]
    if spans is not None:  # last: its thread starts with it
        result.tracer = tracing.Tracer(spans, server, result.egress.of_control_plane())
    return result


def _resources(arguments: argparse.Namespace, coordinated: bool) -> list[Resource]:
    """Return the built-in kinds to serve, with the rules that the flags add."""
    served = runtime_config.served(arguments.runtime_config, registry.everything())
    if coordinated:
        served = [
            lease.coordinated(resource) if resource is lease.RESOURCE else resource for resource in served
        ]
    if not arguments.allow_privileged:
        served = without_privileged(served)
    ttl = int(arguments.event_ttl)
    return [replace(resource, ttl=ttl) if resource.kind == "Event" else resource for resource in served]


def strict_transport_security(directives: Sequence[str]) -> str:
    """Return the value of the Strict-Transport-Security header; ValueError for directives that there are not."""
    for directive in directives:
        name, equals, value = directive.partition("=")
        if not (
            (name in ("includeSubDomains", "preload") and not equals)
            or (name == "max-age" and value.isdigit())
        ):
            raise ValueError(
                f"--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload; see "
                f"https://tools.ietf.org/html/rfc6797#section-6.1 for more information: {directive}"
            )
    return "; ".join(directives)


def proxy_identity(arguments: argparse.Namespace, own: Path | None) -> Identity:
    """Return the certificate that servers behind this one know it by: the given one, or one of its own authority."""
    certificate, key = arguments.proxy_client_cert_file, arguments.proxy_client_key_file
    if bool(certificate) != bool(key):
        raise ValueError("--proxy-client-cert-file and --proxy-client-key-file go together")
    if certificate:
        return Identity(Path(certificate), Path(key))
    if own is None or arguments.requestheader_client_ca_file:
        return Identity()
    authority = tls.ensure_authority(own.parent, "pybernetes-front-proxy-ca", "front-proxy-ca")
    made = own.parent / "front-proxy-client.crt", own.parent / "front-proxy-client.key"
    if not made[1].exists():
        pair = tls.issue(
            tls.Pair(*(path.read_bytes() for path in authority)), "front-proxy-client", client=True
        )
        tls.write_atomically(made[0], pair.certificate)
        tls.write_atomically(made[1], pair.key, 0o600)
    return Identity(*made)
