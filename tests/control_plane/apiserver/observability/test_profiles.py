"""Profiles of a server that works, and who may see them."""

from __future__ import annotations

import gzip

from pybernetes.lib import protobuf_wire as wire
from tests.servers import Server


def _strings(data: bytes) -> list[str]:
    return [value.decode() for number, value in wire.fields(gzip.decompress(data)) if number == 6]  # type: ignore[union-attr]


def test_a_server_shows_them_to_those_who_may(server: Server) -> None:
    connection = server.connection()
    connection.request(
        "GET",
        "/debug/pprof/profile?seconds=0.2",
        headers={"Authorization": "Bearer the-administrators-token"},
    )
    response = connection.getresponse()
    assert response.status == 200 and "cpu" in _strings(response.read())
    connection.close()
    assert server.call("GET", "/debug/pprof/")[0] == 200
    assert server.call("GET", "/debug/pprof/", token="")[0] == 403
