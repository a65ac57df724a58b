"""The kubelet's own HTTPS server: logs, commands, ports and facts of its pods, for those who may have them."""
