from __future__ import annotations

import pytest

from pybernetes.lib.network.environment_proxy import proxy_of

PROXY = {"HTTPS_PROXY": "proxy:3128"}


@pytest.mark.parametrize(
    ("environment", "host", "port", "proxy"),
    [
        ({}, "10.0.0.1", 443, ""),
        (PROXY, "10.0.0.1", 443, "http://proxy:3128"),
        (PROXY, "127.0.0.1", 443, ""),
        ({"HTTPS_PROXY": "ht tp://proxy"}, "10.0.0.1", 443, ""),
        ({"HTTPS_PROXY": "a b"}, "10.0.0.1", 443, ""),
        ({"HTTPS_PROXY": "socks5://u:p%20q@proxy"}, "10.0.0.1", 443, "socks5://u:p%20q@proxy"),
        (PROXY | {"NO_PROXY": "10.0.0.0/8"}, "10.0.0.1", 443, ""),
        (PROXY | {"NO_PROXY": "10.0.0.0/8"}, "11.0.0.1", 443, "http://proxy:3128"),
        (PROXY | {"no_proxy": ".example.com"}, "a.example.com", 443, ""),
        (PROXY | {"no_proxy": "a:6443"}, "a", 443, "http://proxy:3128"),
        (PROXY | {"no_proxy": "not/a/network,*"}, "a", 443, ""),
    ],
)
def test_the_proxy_of_a_server(environment: dict[str, str], host: str, port: int, proxy: str) -> None:
    assert proxy_of(environment, "https", host, port) == proxy
