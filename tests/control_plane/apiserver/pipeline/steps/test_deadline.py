"""How long a request may take."""

from __future__ import annotations

import pytest

from tests.servers import Server


@pytest.mark.parametrize(
    ("timeout", "status"), [("0s", 200), ("3m", 200), ("1h2m3.5s", 200), ("soon", 400), ("5", 400)]
)
def test_how_long_a_request_may_take(server: Server, timeout: str, status: int) -> None:
    code, answer = server.call("GET", "/version", query={"timeout": timeout})
    assert code == status
    assert status == 200 or answer["message"] == "invalid timeout specified in the request URL"
