import pytest

from pybernetes.control_plane.apiserver.observability.health import Health
from tests.servers import Server

TEXT = "text/plain; charset=utf-8"


async def text(health: Health, path: str, query: str = "") -> tuple[int, str]:
    answer = await health.respond(path, query)
    assert answer is not None
    return answer[0], answer[2].decode()


async def test_all_is_well() -> None:
    health = Health()
    assert await health.respond("/healthz") == (
        200,
        {"Content-Type": TEXT, "X-Content-Type-Options": "nosniff"},
        b"ok",
    )
    assert await text(health, "/livez", "verbose") == (200, "[+]ping ok\nlivez check passed\n")
    assert await text(health, "/readyz", "verbose=1") == (
        200,
        "[+]ping ok\n[+]shutdown ok\nreadyz check passed\n",
    )
    assert await health.respond("/readyz/ping") == (200, {"Content-Type": TEXT}, b"ok")


async def test_a_failure_is_named_but_its_reason_is_withheld() -> None:
    health = Health()

    async def store() -> str | None:
        raise OSError("connection refused")

    health.add("etcd", store)
    wanted = "[+]ping ok\n[-]etcd failed: reason withheld\nhealthz check failed\n"
    assert await text(health, "/healthz") == (500, wanted)
    assert await text(health, "/healthz/etcd") == (500, "internal server error: connection refused\n")
    assert (await text(health, "/healthz/ping"))[0] == 200


async def test_excluding() -> None:
    health = Health()
    health.add("etcd", lambda: "down")
    assert await text(health, "/livez", "exclude=etcd") == (200, "ok")
    assert await text(health, "/livez", "verbose&exclude=etcd&exclude=foo&exclude=bar") == (
        200,
        "[+]ping ok\n[+]etcd excluded: ok\n"
        'warn: some health checks cannot be excluded: no matches for "bar","foo"\nlivez check passed\n',
    )


async def test_hooks_become_healthy_when_they_are_done() -> None:
    health = Health()
    health.add_steps(["poststarthook/start-informers", "autoregister-completion"])
    assert await text(health, "/readyz/poststarthook/start-informers") == (
        500,
        "internal server error: not finished\n",
    )
    assert health.unfinished(["start-informers"]) == ["start-informers"]
    health.done("start-informers")
    assert health.unfinished(["start-informers"]) == []
    assert (await text(health, "/readyz"))[0] == 500
    health.done("autoregister-completion")
    assert (await text(health, "/readyz"))[0] == 200


async def test_shutdown_fails_readyz_alone() -> None:
    health = Health()
    health.add("etcd", lambda: None)
    health.shut_down()
    assert await text(health, "/readyz") == (
        500,
        "[+]ping ok\n[+]etcd ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n",
    )
    assert await text(health, "/livez") == (200, "ok")
    assert await health.respond("/livez/shutdown") is None


async def test_endpoints_of_a_check() -> None:
    health = Health()
    health.add("informer-sync", lambda: None, endpoints=("readyz",))
    assert health.checks("livez") == ["ping"]
    assert health.checks("readyz") == ["ping", "informer-sync", "shutdown"]
    assert "/readyz/informer-sync" in health.paths() and "/livez/informer-sync" not in health.paths()


@pytest.mark.parametrize("path", ["/readyz/nope", "/livez/", "/metrics", "/healthzz"])
async def test_other_paths_are_not_answered(path: str) -> None:
    assert await Health().respond(path) is None


def test_two_checks_of_one_name_are_refused() -> None:
    health = Health()
    with pytest.raises(ValueError, match="'ping'"):
        health.add("ping", lambda: None)


def test_checks_have_the_names_that_upstream_gives_them(server: Server) -> None:
    status, text = server.call("GET", "/readyz", query={"verbose": ""})
    assert status == 200
    hooks = {"start-apiextensions-controllers", "start-system-namespaces-controller", "rbac/bootstrap-roles"}
    for name in ("ping", "etcd", "etcd-readiness", "shutdown", *(f"poststarthook/{name}" for name in hooks)):
        assert f"[+]{name} ok\n" in text
        assert server.call("GET", f"/readyz/{name}") == (200, "ok")
    assert server.call("GET", "/livez/etcd-readiness")[0] == 404
