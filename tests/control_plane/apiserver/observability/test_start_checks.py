"""The checks of v1.37: all there, in their order, each of them able to fail."""

from __future__ import annotations

import io
import logging
from pathlib import Path

from pybernetes.control_plane.apiserver.observability.health import Health
from pybernetes.control_plane.apiserver.observability.start_checks import (
    STEPS,
    check_certificate,
    check_log,
    register,
)
from pybernetes.lib.tls import tls
from tests.servers import Server


async def _store(seconds: float) -> None:
    """Answer."""


async def test_each_step_is_waited_for() -> None:
    health = Health()
    register(health, _store, lambda: None, {})
    for step in STEPS:
        answer = await health.respond("/readyz")
        assert answer is not None and answer[0] == 500
        own = await health.respond(f"/livez/{step}")
        assert own is not None and own[0] == 500
        health.done(step.removeprefix("poststarthook/"))
        own = await health.respond(f"/livez/{step}")
        assert own is not None and own[0] == 200
    answer = await health.respond("/readyz")
    assert answer is not None and answer[0] == 200


async def test_informers_are_named() -> None:
    health = Health()
    register(health, _store, lambda: None, {})
    health.done("generic-apiserver-start-informers", "start-apiextensions-informers")
    answer = await health.respond("/readyz/informer-sync")
    late = "[priority-and-fairness-config-consumer start-kube-aggregator-informers]"
    assert (
        answer is not None
        and answer[2].decode() == f"internal server error: 2 informers not synced yet: {late}\n"
    )


def test_a_certificate_that_is_over(tmp_path: Path) -> None:
    path = tmp_path / "crt"
    path.write_bytes(tls.create_authority("ca").certificate)
    assert check_certificate(path) is None and check_certificate(None) is None
    assert check_certificate(path, lambda: 1e11) == "expired loopback server certificate"


def test_a_log_that_cannot_be_written() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger().addHandler(handler)
    try:
        assert check_log() is None
        stream.flush = _fail  # type: ignore[method-assign]
        assert check_log() == "logging blocked: no space left"
    finally:
        logging.getLogger().removeHandler(handler)


def _fail() -> None:
    raise OSError("no space left")


def test_the_page_of_a_server(server: Server) -> None:
    status, text = server.call("GET", "/readyz", query={"verbose": ""})
    names = [line.removeprefix("[+]").removesuffix(" ok") for line in text.splitlines()]
    assert status == 200 and names == [
        "ping", "log", "etcd", "etcd-readiness", "store-space", "stored-objects", "informer-sync", *STEPS, "shutdown",
        "readyz check passed",
    ]  # fmt: skip
    text = server.call("GET", "/livez", query={"verbose": ""})[1]
    assert "[+]loopback-serving-certificate ok" in text and "[+]informer-sync" not in text
    slis = server.call("GET", "/metrics/slis")[1]
    assert 'kubernetes_healthcheck{name="etcd-readiness",type="readyz"} 1' in slis
