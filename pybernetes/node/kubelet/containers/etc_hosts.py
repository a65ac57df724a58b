"""The /etc/hosts of a pod's containers."""

from __future__ import annotations

from pybernetes.api.resource import Object

_HEAD = "# Kubernetes-managed hosts file"


def hosts_file(pod: Object, addresses: tuple[str, ...], host: str, domain: str, node_hosts: str) -> str:
    """Return the text of the file; on the host's network it is the node's own with the aliases added."""
    spec = pod["spec"]
    if spec.get("hostNetwork"):
        body = f"{_HEAD} (host network).\n{node_hosts}"
    else:
        lines = [
            f"{_HEAD}.",
            "127.0.0.1\tlocalhost",
            "::1\tlocalhost ip6-localhost ip6-loopback",
            "fe00::0\tip6-localnet",
            "fe00::0\tip6-mcastprefix",
            "fe00::1\tip6-allnodes",
            "fe00::2\tip6-allrouters",
        ]
        own = f"{host}.{domain}\t{host}" if domain else host
        lines += [f"{address}\t{own}" for address in addresses]
        body = "\n".join(lines) + "\n"
    aliases = spec.get("hostAliases", ())
    if aliases:
        body += "\n# Entries added by HostAliases.\n"
        body += "".join(
            f"{alias['ip']}\t" + "\t".join(alias.get("hostnames", ())) + "\n" for alias in aliases
        )
    return body
