"""What runs on every node: kubelet, proxy, DNS, network, statistics, and the container runtime under them."""
