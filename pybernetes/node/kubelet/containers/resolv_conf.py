"""The /etc/resolv.conf of a pod: a pure function of its DNS policy and of the node's own file."""

from __future__ import annotations

from dataclasses import dataclass, field

from pybernetes.api.resource import Object

_SERVERS, _SEARCHES, _SEARCH_CHARACTERS = 3, 32, 2048
_CLUSTER_OPTIONS = ("ndots:5",)


@dataclass(frozen=True, slots=True)
class ResolvConf:
    """The lines of a resolv.conf."""

    servers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the text of the file."""
        lines = [f"search {' '.join(self.searches)}"] if self.searches else []
        lines += [f"nameserver {server}" for server in self.servers]
        if self.options:
            lines.append(f"options {' '.join(self.options)}")
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class ClusterDns:
    """The cluster's DNS, and the resolv.conf of the node itself."""

    servers: tuple[str, ...] = ()
    domain: str = "cluster.local"
    node: ResolvConf = field(default_factory=ResolvConf)


def parse_resolv_conf(text: str) -> ResolvConf:
    """Parse the node's own file."""
    servers: list[str] = []
    searches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    for line in text.splitlines():
        words = line.split()
        if not words or words[0][0] in "#;":
            continue
        if words[0] == "nameserver" and len(words) > 1:
            servers.append(words[1])
        elif words[0] == "search":
            searches = tuple(word.rstrip(".") or "." for word in words[1:])
        elif words[0] == "options":
            options = tuple(words[1:])
    return ResolvConf(tuple(servers), searches, options)


def pod_resolv_conf(pod: Object, dns: ClusterDns) -> tuple[ResolvConf, list[str]]:
    """Return the file of a pod, and warnings about it (limits exceeded, no cluster DNS)."""
    spec = pod["spec"]
    policy = spec.get("dnsPolicy", "ClusterFirst")
    warnings: list[str] = []
    if policy == "ClusterFirst" and spec.get("hostNetwork"):
        policy = "Default"
    if policy == "ClusterFirstWithHostNet":
        policy = "ClusterFirst"
    if policy == "ClusterFirst" and not dns.servers:
        warnings.append("MissingClusterDNS")
        policy = "Default"
    if policy == "None":
        base = ResolvConf()
    elif policy == "Default":
        base = dns.node
    else:
        namespace = pod["metadata"]["namespace"]
        cluster = (f"{namespace}.svc.{dns.domain}", f"svc.{dns.domain}", dns.domain) if dns.domain else ()
        base = ResolvConf(dns.servers, _unique((*cluster, *dns.node.searches)), _CLUSTER_OPTIONS)
    return _limited(_with_config(base, spec.get("dnsConfig") or {}), warnings), warnings


def _with_config(base: ResolvConf, config: Object) -> ResolvConf:
    options: dict[str, str] = {}
    for text in base.options:
        name, _, value = text.partition(":")
        options[name] = value
    for option in config.get("options", ()):
        options[option["name"]] = option.get("value") or ""
    return ResolvConf(
        _unique((*base.servers, *config.get("nameservers", ()))),
        _unique((*base.searches, *config.get("searches", ()))),
        tuple(f"{name}:{value}" if value else name for name, value in options.items()),
    )


def _limited(conf: ResolvConf, warnings: list[str]) -> ResolvConf:
    servers, searches = conf.servers[:_SERVERS], conf.searches[:_SEARCHES]
    while len(" ".join(searches)) > _SEARCH_CHARACTERS:
        searches = searches[:-1]
    if servers != conf.servers:
        warnings.append(
            f"Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: {' '.join(servers)}"
        )
    if searches != conf.searches:
        warnings.append(
            f"Search Line limits were exceeded, some search paths have been omitted, the applied search line is: {' '.join(searches)}"
        )
    return ResolvConf(servers, searches, conf.options)


def _unique(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))


def host_names(pod: Object, domain: str) -> tuple[str, str]:
    """Return the host name of a pod and its domain, which is empty without a subdomain."""
    spec, meta = pod["spec"], pod["metadata"]
    if spec.get("hostnameOverride"):
        return spec["hostnameOverride"], ""
    host = (spec.get("hostname") or meta["name"])[:63].rstrip("-.")
    subdomain = spec.get("subdomain")
    return host, f"{subdomain}.{meta['namespace']}.svc.{domain}" if subdomain else ""


def kernel_host_name(pod: Object, domain: str) -> str:
    """Return the host name of the pod's UTS namespace; raise ValueError if it is too long."""
    host, suffix = host_names(pod, domain)
    if not pod["spec"].get("setHostnameAsFQDN") or not suffix:
        return host
    full = f"{host}.{suffix}"
    if len(full) > 64:
        raise ValueError(
            f"failed to construct FQDN from pod hostname and cluster domain, FQDN {full} is too long (64 characters is the max, {len(full)} characters requested)"
        )
    return full
