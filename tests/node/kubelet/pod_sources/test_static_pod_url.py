"""Static pods of a URL."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from pybernetes.lib.clock import ManualClock
from pybernetes.node.kubelet.pod_sources.static_pod_url import StaticPodUrl
from tests.loopback_server import JsonHandler, loopback_server, served
from tests.support import eventually


def test_static_pods_of_a_url() -> None:
    source = StaticPodUrl("http://x/pods", {}, "Node1", ManualClock(), lambda pods: None)
    listed = "kind: PodList\nitems:\n- {metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}\n"
    (pod,) = source.parse(listed.encode()).values()
    assert (pod["metadata"]["name"], pod["metadata"]["namespace"]) == ("a-node1", "default")
    assert pod["metadata"]["annotations"]["kubernetes.io/config.source"] == "http"
    assert "tolerations" not in pod["spec"] and pod["spec"]["nodeName"] == "Node1"
    single = "kind: Pod\nmetadata: {name: a, uid: u}\nspec: {containers: [{name: c, image: i}]}\n"
    assert list(source.parse(single.encode())) == ["u"]
    for wrong in ("- 1", "kind: Pod\nmetadata: {}\nspec: {}\n", "kind: Service\n"):
        with pytest.raises(ValueError):
            source.parse(wrong.encode())


async def test_pods_are_fetched_with_the_headers_that_were_given() -> None:
    asked: list[tuple[str, str | None]] = []
    answers = [
        (500, b"broken"),
        (200, b""),
        (200, b"kind: Pod\nmetadata: {name: a, uid: u}\nspec: {containers: [{name: c, image: i}]}\n"),
    ]

    class Handler(JsonHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers.get("X-Key")))
            code, body = answers.pop(0) if len(answers) > 1 else answers[0]
            self.reply(body, code)

    server = loopback_server(Handler)
    clock = ManualClock()
    seen: list[list[str]] = []
    with served(server):
        url = f"http://127.0.0.1:{server.server_port}/pods"
        source = StaticPodUrl(
            url, {"X-Key": ["one", "two"]}, "node1", clock, lambda pods: seen.append(list(pods))
        )
        running = asyncio.create_task(source.run(20))

        def rests_after(count: int) -> bool:
            return len(asked) >= count and clock.sleepers > 0

        for count in (1, 2, 3):
            await eventually(partial(rests_after, count))
            await clock.advance(20)
        await eventually(lambda: bool(seen))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert seen == [["u"]]
    assert set(asked) == {("/pods", "one, two")}
