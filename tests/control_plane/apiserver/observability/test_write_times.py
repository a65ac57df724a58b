"""When pods were written: noted to the microsecond, and never more than there is room for."""

from types import SimpleNamespace
from typing import Any

from pybernetes.client.refs import PODS
from pybernetes.control_plane.apiserver.observability import write_times
from pybernetes.control_plane.apiserver.observability.write_times import WriteTimes
from tests.cluster import Cluster, pod

PATH, ASKED = "/api/v1/namespaces/default/pods/web", "writeTimes=true"


async def test_each_write_of_a_pod_is_noted() -> None:
    async with Cluster() as cluster:
        client = cluster.client
        made = await client.create(PODS, pod("web"))
        binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n1"}}
        await client.create(PODS, binding, "default", name="web", subresource="binding")
        for phase in ("Running", "Running"):  # what changes nothing is no write
            await client.patch_status(PODS, "web", {"status": {"phase": phase}}, "default")
        told = await client.call("GET", PATH, ASKED)
        assert (told["kind"], told["uid"]) == ("WriteTimes", made["metadata"]["uid"])
        written = [(write["subresource"], write["phase"]) for write in told["writes"]]
        assert written == [("", ""), ("binding", "Pending"), ("status", "Running")]
        for write in told["writes"]:
            moments = [write[name] for name in ("received", "admission", "write", "written")]
            assert moments == sorted(moments)
        assert (await client.call("GET", PATH, "writeTimes=false"))["kind"] == "Pod"
        nodes = await client.call("GET", "/api/v1/namespaces/default", ASKED)
        assert nodes["kind"] == "Namespace"  # whose writes nobody times


async def test_nothing_is_known_of_a_deleted_pod() -> None:
    async with Cluster() as cluster:
        times = cluster.server.context.write_times["", "pods"]
        await cluster.client.create(PODS, pod("web"))
        assert len(times) == 1
        await cluster.client.delete(PODS, "web", "default", grace=0)
        assert len(times) == 0


async def test_a_dry_run_is_no_write() -> None:
    async with Cluster() as cluster:
        await cluster.client.create(PODS, pod("web"), dry_run=True)
        await cluster.client.create(PODS, pod("web"))
        binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "n1"}}
        await cluster.client.create(PODS, binding, "default", name="web", subresource="binding", dry_run=True)
        assert len((await cluster.client.call("GET", PATH, ASKED))["writes"]) == 1


def test_only_the_newest_objects_and_their_first_writes_are_kept() -> None:
    times = WriteTimes(lambda: 1_700_000_000.0)
    request: Any = SimpleNamespace(
        started=0.0, set_aside=None, request_info=SimpleNamespace(subresource="status")
    )
    for number in range(10 * write_times.MOST_OBJECTS):
        times.created({"metadata": {"uid": str(number)}}, request, 0.0, 0.0)
        assert len(times) < write_times.MOST_OBJECTS
    newest = str(10 * write_times.MOST_OBJECTS - 1)
    kept = len(times)
    for _ in range(100):
        times.changed({"metadata": {"uid": "0"}}, request, 0.0, 0.0)  # forgotten, and not taken up again
        times.changed({"metadata": {"uid": newest}, "status": {"phase": "Running"}}, request, 0.0, 0.0)
    assert (times.document("0")["writes"], len(times)) == ([], kept)
    assert len(times.document(newest)["writes"]) == write_times.MOST_WRITES


def test_time_in_a_queue_counts() -> None:
    times = WriteTimes(lambda: 1_700_000_000.0)
    request: Any = SimpleNamespace(started=0.0, set_aside=SimpleNamespace(queued=5.0))
    times.created({"metadata": {"uid": "u"}}, request, 0.0, 0.0)
    (write,) = times.document("u")["writes"]
    assert round(write["admission"] - write["received"], 1) == 5.0
