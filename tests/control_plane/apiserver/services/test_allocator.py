"""The allocator on a store in memory: what services get, what is refused, and what goes back."""

import asyncio
from copy import deepcopy
from random import Random
from typing import Any

import orjson
import pytest

from pybernetes.api.core.service.service import RESOURCE
from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.services.allocator import Allocation, ServiceAllocator
from pybernetes.control_plane.apiserver.services.objects import default_service_cidr, kubernetes_service
from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.control_plane.store.drivers.memory import MemoryStore
from pybernetes.control_plane.store.protocol import Store

DUAL = "10.0.0.0/24,fd00::/112"


async def opened() -> MemoryStore:
    store = MemoryStore()
    await store.start()
    return store


def allocator(store: Store, addresses: str = "10.0.0.0/24", ports: str = "30000-30031") -> ServiceAllocator:
    options = ServiceOptions.parse(addresses, ports)
    return ServiceAllocator(store, options, timestamp=lambda: "2026-01-01T00:00:00Z", random=Random(1))


def service(name: str = "web", **spec: Any) -> dict[str, Any]:
    obj = {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"ports": [{"port": 80}], "selector": {"app": "web"}, **spec},
    }
    assert RESOURCE.default is not None and RESOURCE.prepare_create is not None
    RESOURCE.default(obj)
    RESOURCE.prepare_create(obj)
    return obj


def changed(old: dict[str, Any], **spec: Any) -> dict[str, Any]:
    new = deepcopy(old)
    for key, value in spec.items():
        if value is None:
            new["spec"].pop(key, None)
        else:
            new["spec"][key] = value
    assert RESOURCE.default is not None and RESOURCE.prepare_update is not None
    RESOURCE.default(new)
    RESOURCE.prepare_update(new, old)
    return new


async def save(store: Store, allocator_: ServiceAllocator, obj: dict[str, Any]) -> Allocation:
    """Return a create, as the API server does it."""
    allocation = await allocator_.allocate_create(obj)
    await store.create(f"/registry/services/specs/default/{obj['metadata']['name']}", orjson.dumps(obj))
    await allocation.commit()
    return allocation


def addresses(store: Store) -> list[str]:
    return [record.key.rpartition("/")[2] for record in store.list("/registry/ipaddresses/").records]


async def refused(action: Any) -> str:
    with pytest.raises(StatusError) as caught:
        await action
    return caught.value.message


async def test_a_service_gets_an_address_with_its_owner() -> None:
    store = await opened()
    obj = service()
    await allocator(store).allocate_create(obj)
    spec = obj["spec"]
    assert spec["clusterIPs"] == [spec["clusterIP"]]
    assert spec["ipFamilies"] == ["IPv4"] and spec["ipFamilyPolicy"] == "SingleStack"
    assert int(spec["clusterIP"].rpartition(".")[2]) >= 17
    record = store.get(f"/registry/ipaddresses/{spec['clusterIP']}")
    assert record is not None
    address = orjson.loads(record.value)
    assert address["spec"]["parentRef"] == {"resource": "services", "namespace": "default", "name": "web"}
    assert address["metadata"]["labels"]["ipaddress.kubernetes.io/managed-by"] == "ipallocator.k8s.io"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"clusterIP": "1.2.3.4"},
         'spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: '
         "the provided network does not match the current range"),
        ({"clusterIP": "10.0.0.0"},
         'spec.clusterIPs: Invalid value: ["10.0.0.0"]: failed to allocate IP 10.0.0.0: '
         "the provided network does not match the current range"),
        ({"clusterIP": "10.0.0.9"},
         'spec.clusterIPs: Invalid value: ["10.0.0.9"]: failed to allocate IP 10.0.0.9: '
         "provided IP is already allocated"),
        ({"clusterIP": "fd00::1"},
         'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster'),
        ({"clusterIP": "fd00::1", "ipFamilies": ["IPv4"]},
         'spec.clusterIPs[0]: Invalid value: "fd00::1": expected an IPv4 value as indicated by `ipFamilies[0]`'),
        ({"ipFamilies": ["IPv6"]}, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'),
        ({"ipFamilyPolicy": "RequireDualStack"},
         'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": '
         "this cluster is not configured for dual-stack services"),
        ({"ipFamilies": ["IPv4", "IPv6"]},
         'spec.ipFamilyPolicy: Invalid value: "SingleStack": must be \'RequireDualStack\' or \'PreferDualStack\' '
         "when multiple IP families are specified"),
        ({"clusterIPs": ["10.0.0.20"]},
         'spec.clusterIPs: Invalid value: ["10.0.0.20"]: must be empty when `clusterIP` is not specified'),
        ({"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
         "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. "
         "The range of valid ports is 30000-30031"),
        ({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30009}]},
         "spec.ports[0].nodePort: Invalid value: 30009: provided port is already allocated"),
        ({"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 80},
         "failed to allocate requested HealthCheck NodePort 80: provided port is not in the valid range. "
         "The range of valid ports is 30000-30031"),
    ],
)  # fmt: skip
async def test_refused(spec: dict[str, Any], problem: str) -> None:
    store = await opened()
    pools = allocator(store)
    await save(store, pools, service("first", clusterIP="10.0.0.9", type="NodePort",
                                     ports=[{"port": 80, "nodePort": 30009}]))  # fmt: skip
    taken, ports = addresses(store), pools.ports.taken()
    assert problem in await refused(pools.allocate_create(service(**spec)))
    assert (addresses(store), pools.ports.taken()) == (taken, ports)


async def test_a_dry_run_takes_nothing_and_says_what_is_wrong() -> None:
    store = await opened()
    pools = allocator(store)
    obj = service(type="LoadBalancer", externalTrafficPolicy="Local", ports=[{"port": 80}])
    await pools.allocate_create(obj, dry_run=True)
    assert obj["spec"]["clusterIPs"] == ["10.0.0.0"]
    assert [port["nodePort"] for port in obj["spec"]["ports"]] == [32769]
    assert obj["spec"]["healthCheckNodePort"] == 32770
    assert addresses(store) == [] and pools.ports.taken() == set()
    message = await refused(pools.allocate_create(service(clusterIP="1.2.3.4"), dry_run=True))
    assert (
        "the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.0.0.0/24"
        in message
    )


async def test_headless_and_external_name_take_nothing() -> None:
    store = await opened()
    pools = allocator(store)
    headless, bare = service(clusterIP="None"), service(clusterIP="None", selector={})
    external = service(type="ExternalName", externalName="example.com")
    for obj in (headless, bare, external):
        await pools.allocate_create(obj)
    assert addresses(store) == []
    assert headless["spec"]["ipFamilies"] == ["IPv4"] and headless["spec"]["clusterIPs"] == ["None"]
    assert (
        bare["spec"]["ipFamilies"] == ["IPv4", "IPv6"]
        and bare["spec"]["ipFamilyPolicy"] == "RequireDualStack"
    )
    assert "ipFamilies" not in external["spec"] and "clusterIP" not in external["spec"]


async def test_dual_stack() -> None:
    store = await opened()
    pools = allocator(store, DUAL)
    obj = service(ipFamilyPolicy="PreferDualStack")
    await save(store, pools, obj)
    assert obj["spec"]["ipFamilies"] == ["IPv4", "IPv6"] and len(obj["spec"]["clusterIPs"]) == 2
    single = changed(obj, ipFamilyPolicy="SingleStack")
    allocation = await pools.allocate_update(single, obj)
    assert len(single["spec"]["clusterIPs"]) == len(single["spec"]["ipFamilies"]) == 1
    assert len(addresses(store)) == 2, "given back only after the write"
    await allocation.commit()
    assert addresses(store) == single["spec"]["clusterIPs"]
    again = changed(single, ipFamilyPolicy="RequireDualStack")
    await (await pools.allocate_update(again, single)).commit()
    assert sorted(addresses(store)) == sorted(again["spec"]["clusterIPs"])
    assert again["spec"]["clusterIPs"][0] == obj["spec"]["clusterIPs"][0]


async def test_the_second_address_is_not_given_up_silently() -> None:
    store = await opened()
    pools = allocator(store, DUAL)
    obj = service(ipFamilyPolicy="RequireDualStack")
    await save(store, pools, obj)
    new = changed(obj, clusterIPs=obj["spec"]["clusterIPs"][:1])
    message = await refused(pools.allocate_update(new, obj))
    assert "must be 'SingleStack' to release the secondary cluster IP" in message


async def test_node_ports_are_shared_by_protocols_and_kept_in_updates() -> None:
    store = await opened()
    pools = allocator(store)
    ports = [
        {"name": "a", "port": 53},
        {"name": "b", "port": 53, "protocol": "UDP"},
        {"name": "c", "port": 80},
    ]
    obj = service(type="NodePort", ports=ports)
    await save(store, pools, obj)
    first, second, third = (port["nodePort"] for port in obj["spec"]["ports"])
    assert first == second != third
    assert pools.ports.taken() == {first, third}
    # A client that sends its file again does not know the numbers.
    again = changed(
        obj, ports=[{"name": "a", "port": 53}, {"name": "c", "port": 81}], clusterIP=None, clusterIPs=None
    )
    allocation = await pools.allocate_update(again, obj)
    assert again["spec"]["clusterIP"] == obj["spec"]["clusterIP"]
    assert [port["nodePort"] for port in again["spec"]["ports"]] == [first, third]
    await allocation.commit()
    assert pools.ports.taken() == {first, third}


async def test_a_change_of_type_gives_ports_and_addresses_back() -> None:
    store = await opened()
    pools = allocator(store)
    obj = service(type="LoadBalancer", externalTrafficPolicy="Local")
    await save(store, pools, obj)
    assert len(pools.ports.taken()) == 2
    plain = changed(obj, type="ClusterIP")
    await (await pools.allocate_update(plain, obj)).commit()
    assert pools.ports.taken() == set() and len(addresses(store)) == 1
    assert "nodePort" not in plain["spec"]["ports"][0] and "healthCheckNodePort" not in plain["spec"]
    external = changed(plain, type="ExternalName", externalName="example.com")
    await (await pools.allocate_update(external, plain)).commit()
    assert addresses(store) == [] and "clusterIP" not in external["spec"]
    back = changed(external, type="NodePort")
    await (await pools.allocate_update(back, external)).commit()
    assert addresses(store) == back["spec"]["clusterIPs"] and len(pools.ports.taken()) == 1


async def test_load_balancer_without_node_ports() -> None:
    store = await opened()
    pools = allocator(store)
    obj = service(type="LoadBalancer", allocateLoadBalancerNodePorts=False)
    await pools.allocate_create(obj)
    assert "nodePort" not in obj["spec"]["ports"][0] and pools.ports.taken() == set()


async def test_undo_and_release() -> None:
    store = await opened()
    pools = allocator(store)
    failed = await pools.allocate_create(service(type="NodePort"))
    await failed.undo()
    assert addresses(store) == [] and pools.ports.taken() == set()
    obj = service(type="NodePort")
    await save(store, pools, obj)
    await pools.release(obj)
    assert addresses(store) == [] and pools.ports.taken() == set()


async def test_release_leaves_what_is_another_services() -> None:
    store = await opened()
    pools = allocator(store)
    obj = service("mine", clusterIP="10.0.0.30")
    await pools.allocate_create(obj)
    await pools.release(service("other", clusterIP="10.0.0.30"))
    assert addresses(store) == ["10.0.0.30"]


async def test_full_ranges() -> None:
    store = await opened()
    pools = allocator(store, "10.0.0.0/28", "30000-30001")
    seen = set()
    for index in range(14):
        obj = service(f"s{index}")
        await pools.allocate_create(obj)
        seen.add(obj["spec"]["clusterIP"])
    assert len(seen) == 14
    message = await refused(pools.allocate_create(service("more")))
    assert (
        message == 'Internal error occurred: failed to allocate a serviceIP for Service "more": range is full'
    )
    ports = allocator(await opened(), ports="30000-30001")
    await ports.allocate_create(service("a", type="NodePort"))
    await ports.allocate_create(service("b", type="NodePort"))
    message = await refused(ports.allocate_create(service("c", type="NodePort")))
    assert message == "Internal error occurred: failed to allocate a nodePort: range is full"


async def test_two_servers_on_one_store_never_give_the_same_away() -> None:
    store = await opened()
    servers = [allocator(store), allocator(store)]
    services = [service(f"s{index}", type="NodePort") for index in range(30)]
    await asyncio.gather(*(servers[i % 2].allocate_create(obj) for i, obj in enumerate(services)))
    ips = [obj["spec"]["clusterIP"] for obj in services]
    ports = [obj["spec"]["ports"][0]["nodePort"] for obj in services]
    assert len(set(ips)) == len(set(ports)) == 30
    assert servers[0].ports.taken() == set(ports)


async def test_ranges_follow_the_service_cidrs() -> None:
    store = await opened()
    pools = allocator(store, "10.0.0.0/28")
    cidr = default_service_cidr(pools.options, "2026-01-01T00:00:00Z")
    await store.create("/registry/servicecidrs/kubernetes", orjson.dumps(cidr))
    assert "current range" in await refused(pools.allocate_create(service(clusterIP="10.9.0.5")))
    extra = {"metadata": {"name": "extra"}, "spec": {"cidrs": ["10.9.0.0/28"]}}
    record = await store.create("/registry/servicecidrs/extra", orjson.dumps(extra))
    await pools.allocate_create(service(clusterIP="10.9.0.5"))
    extra["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"  # type: ignore[index]
    await store.update("/registry/servicecidrs/extra", orjson.dumps(extra), record.revision)
    assert "current range" in await refused(pools.allocate_create(service(clusterIP="10.9.0.6")))


async def test_start_repairs_what_a_crash_left() -> None:
    store = await opened()
    pools = allocator(store)
    kept, lost = service("kept", type="NodePort"), service("lost", type="NodePort")
    await save(store, pools, kept)
    await pools.allocate_create(lost)  # the server dies before the service is written
    known = service("known", clusterIP="10.0.0.77", type="NodePort", ports=[{"port": 80, "nodePort": 30003}])
    await store.create("/registry/services/specs/default/known", orjson.dumps(known))
    again = allocator(store)
    await again.start()
    assert sorted(addresses(store)) == sorted([kept["spec"]["clusterIP"], "10.0.0.77"])
    assert again.ports.taken() == {kept["spec"]["ports"][0]["nodePort"], 30003}


async def test_the_kubernetes_service_gets_the_first_address() -> None:
    store = await opened()
    pools = allocator(store, "10.96.0.0/16")
    obj = kubernetes_service(pools.options, 6443)
    assert RESOURCE.default is not None and RESOURCE.prepare_create is not None
    RESOURCE.default(obj)
    RESOURCE.prepare_create(obj)
    await pools.allocate_create(obj)
    assert obj["spec"]["clusterIPs"] == ["10.96.0.1"] and addresses(store) == ["10.96.0.1"]


async def test_node_ports_are_stored_as_kubernetes_stores_them() -> None:
    store = await opened()
    pools = allocator(store)
    await pools.allocate_create(service(type="NodePort", ports=[{"port": 80, "nodePort": 30000}]))
    await pools.allocate_create(service("b", type="NodePort", ports=[{"port": 80, "nodePort": 30009}]))
    record = store.get("/registry/ranges/servicenodeports")
    assert record is not None
    obj = orjson.loads(record.value)
    assert obj["range"] == "30000-30031" and obj["data"] == "AgE="
