"""The kubelet's own HTTPS server: logs, commands, ports and facts of its pods, for those who may have them."""

from pybernetes.node.kubelet.server.kubelet_server import KubeletServer

__all__ = ["KubeletServer"]
