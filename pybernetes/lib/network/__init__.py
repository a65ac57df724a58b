"""Sockets and names: look-ups, other network namespaces, proxies, listeners, and peers that are gone."""
