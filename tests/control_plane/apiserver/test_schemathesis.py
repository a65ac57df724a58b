"""Requests made from the server's own OpenAPI documents, right and wrong: no 500, every error a Status.

The gate asks some of the operations; FUZZ_EXAMPLES=20 asks all of them, that often, differently each time.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from pybernetes.api.registry import builtin
from tests.control_plane.apiserver.test_fuzz import HONEST
from tests.servers import TOKEN, Server, running

GROUPS = sorted({f"apis/{kind.group}/{kind.version}" if kind.group else "api/v1" for kind in builtin()})
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
STRIDE = 1 if EXAMPLES else 17
CHOSEN = settings(
    derandomize=not EXAMPLES, database=None, max_examples=EXAMPLES or 1, deadline=None, phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


class Asked:
    """A server, and the one connection over which it is asked."""

    def __init__(self, server: Server) -> None:
        self.server, self.session = server, requests.Session()
        self.session.headers["Authorization"] = f"Bearer {TOKEN}"

    def document(self, group: str) -> Any:
        """Return what the server says of a group, as schemathesis reads it."""
        status, document = self.server.call("GET", f"/openapi/v3/{group}")
        assert status == 200
        for path in [path for path in document["paths"] if "/watch/" in path]:
            del document["paths"][path]  # they would not end
        return schemathesis.openapi.from_dict(document)

    def check(self, case: Any) -> None:
        """Send a request, and look at what kind of answer comes."""
        query = case.query if isinstance(case.query, dict) else {}
        case.query = {**query, "timeoutSeconds": 1, "watch": "false"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            response = case.call(
                base_url=f"https://127.0.0.1:{self.server.port}", session=self.session, timeout=30,
                verify=str(self.server.authority),
            )  # fmt: skip
        told = f"{case.method} {case.formatted_path} {case.query} {case.headers} {case.body!r}"
        told += f" -> {response.status_code} {response.text[:1000]}"
        # Without a body nobody says why a service cannot be reached.
        headless = case.method == "HEAD" and response.status_code == 503
        assert response.status_code < 500 or headless or any(text in response.content for text in HONEST), (
            told
        )
        kind = response.headers.get("content-type", [""])[0]
        if response.status_code >= 400 and case.method != "HEAD" and "json" in kind:
            assert response.json()["kind"] == "Status", told


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with running(tmp_path_factory.mktemp("schemathesis"), "--storage-backend=memory") as server:
        yield Asked(server)
        log = (server.directory / "log").read_text()
        assert "Traceback" not in log, log[-4000:]


@pytest.mark.parametrize("group", GROUPS)
def test_operations(asked: Asked, group: str) -> None:
    operations = [result.ok() for result in asked.document(group).get_all_operations()]
    assert operations
    for operation in operations[GROUPS.index(group) % min(STRIDE, len(operations)) :: STRIDE]:
        for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
            with suppress(Unsatisfiable):  # nothing about a request without parameters can be wrong
                CHOSEN(given(case=operation.as_strategy(generation_mode=mode))(asked.check))()
