"""When requests for certificates are no longer needed."""

from __future__ import annotations

import pytest

from pybernetes.control_plane.controllers.certificatesigningrequest_cleaner import expires
from pybernetes.lib import rfc3339


@pytest.mark.parametrize(
    ("conditions", "certificate", "seconds"),
    [
        ([], "", 86400),
        ([("Approved", 100)], "", 100 + 86400),
        ([("Approved", 100)], "issued", 100 + 3600),
        ([("Denied", 100)], "", 100 + 3600),
        ([("Approved", 100), ("Failed", 200)], "", 200 + 3600),
    ],
)
def test_when_requests_are_not_needed_any_more(
    conditions: list[tuple[str, int]], certificate: str, seconds: int
) -> None:
    begin = rfc3339.parse("2026-01-01T00:00:00Z")
    written = [
        {"type": type_, "lastUpdateTime": rfc3339.seconds(begin + after)} for type_, after in conditions
    ]
    status = {"conditions": written, "certificate": certificate}
    assert (
        expires({"metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"}, "status": status})
        == begin + seconds
    )
