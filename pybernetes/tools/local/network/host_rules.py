"""Keeps the rules of a local cluster on this machine: they come back when others remove them, as a firewall that starts again does."""

from __future__ import annotations

import socket
import sys
import threading
import time

from pybernetes.lib.kernel import rule_messages
from pybernetes.tools.local import settings as saved_settings
from pybernetes.tools.local.network import bridge, cluster_links, dns_ports, network
from pybernetes.tools.local.network.host_balancers import HostBalancers
from pybernetes.tools.local.paths import Cluster


class HostRules:
    """The rules of one cluster: those that let nodes out, and those of load balancers."""

    def __init__(self, cluster: Cluster, balancers: HostBalancers) -> None:
        self._cluster, self._balancers = cluster, balancers
        words = (bridge.comment(cluster.name), network.bridge_name(cluster.name))
        self._reader = rule_messages.Reader(tuple(word.encode() for word in words))

    def start(self) -> None:
        """Begin to listen, on a thread of its own; without the permission it stays silent."""
        try:
            opened = rule_messages.open_socket()
        except OSError as error:
            print(f"local-host: rules that others remove will not be noticed: {error}", file=sys.stderr)
            return
        threading.Thread(target=self._watch, args=(opened,), daemon=True).start()

    def _watch(self, opened: socket.socket) -> None:
        while True:
            try:
                removed = list(self._reader.read(opened.recv(1 << 16)))
            except OSError:
                removed = [0]  # more than the buffer holds: nobody knows what it was
            if removed:
                self.restore()
                time.sleep(rule_messages.PAUSE)

    def restore(self) -> bool:
        """Write what is gone; return whether anything was. Our own changes remove rules too, and leave none out."""
        try:
            settings = saved_settings.load(self._cluster)
            ports = dns_ports.opened_with_api(settings)
            ranges = filter(None, (settings.node_range, settings.node_range_v6))
            written = [bridge.restore_rules(self._cluster.name, text, ports) for text in ranges]
            written.append(self._balancers.restore_removed())
            others = cluster_links.connected(self._cluster, settings)
            written.append(cluster_links.open_ways(self._cluster.name, settings, others))
        except (OSError, saved_settings.SettingsError) as error:
            print(f"local-host: rules cannot be written again: {error}", file=sys.stderr)
            return False
        if any(written):
            print("local-host: rules were removed by others; they are written again", file=sys.stderr)
        return any(written)
