"""What goes wrong in members: the status says so, others are not held up, nothing of others is touched."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES, Ref
from pybernetes.control_plane.federation.kinds import PROPAGATED_VERSIONS
from tests.cluster import Cluster
from tests.control_plane.federation.fleet import FEDERATED_CONFIG_MAPS, FEDERATED_NAMESPACES, Fleet, federated
from tests.support import eventually

pytestmark = pytest.mark.slow
POLICIES = Ref(
    "admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", False
)
BINDINGS = Ref(
    "admissionregistration.k8s.io",
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    False,
)


async def begin(fleet: Fleet) -> None:
    """Federate a namespace into all members."""
    await fleet.install("namespaces", "configmaps")
    await fleet.join()
    await fleet.start()
    await fleet.host.client.create(NAMESPACES, {"metadata": {"name": "demo"}})
    await fleet.host.client.create(FEDERATED_NAMESPACES, federated(FEDERATED_NAMESPACES, "demo", "demo"))
    await fleet.settles(FEDERATED_NAMESPACES, "demo", "demo", **dict.fromkeys(fleet.members, ""))


async def place(fleet: Fleet, name: str, data: dict[str, str], **spec: Any) -> None:
    made = federated(FEDERATED_CONFIG_MAPS, name, "demo", {"data": data}, **spec)
    await fleet.host.client.create(FEDERATED_CONFIG_MAPS, made)


async def change(fleet: Fleet, name: str, data: dict[str, str]) -> None:
    await fleet.host.client.patch(FEDERATED_CONFIG_MAPS, name, {"spec": {"template": {"data": data}}}, "demo")


async def data_of(cluster: Cluster, name: str) -> Any:
    try:
        return (await cluster.client.get(CONFIG_MAPS, name, "demo")).get("data")
    except NotFound:
        return None


async def test_objects_of_others_are_left_alone() -> None:
    async with Fleet("one", "two", spec={"syncController": {"adoptResources": "Disabled"}}) as fleet:
        await begin(fleet)
        one = fleet.members["one"].client
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "1-2-3", "controller": True}
        others: dict[str, dict[str, Any]] = {
            "owned": {"ownerReferences": [owner]},
            "kept": {"labels": {"kubefed.io/managed": "false"}},
            "there": {},
        }
        for name, meta in others.items():
            await one.create(
                CONFIG_MAPS,
                {"metadata": {"name": name, "namespace": "demo", **meta}, "data": {"mine": "yes"}},
            )
            await place(fleet, name, {"ours": "yes"})
        for name, status in {
            "owned": "AlreadyExists",
            "kept": "ManagedLabelFalse",
            "there": "AlreadyExists",
        }.items():
            await fleet.settles(
                FEDERATED_CONFIG_MAPS, name, "demo", all_="False CheckClusters", one=status, two=""
            )
            assert await data_of(fleet.members["one"], name) == {"mine": "yes"}
            assert await data_of(fleet.members["two"], name) == {"ours": "yes"}
            await fleet.host.client.delete(FEDERATED_CONFIG_MAPS, name, "demo")

        async def gone() -> bool:
            return not (await fleet.host.client.list(FEDERATED_CONFIG_MAPS, "demo")).items

        await eventually(gone)
        for name in ("owned", "kept", "there"):
            assert await data_of(fleet.members["one"], name) == {"mine": "yes"}
            assert await data_of(fleet.members["two"], name) is None


async def test_a_member_that_refuses_is_slow_or_lost_holds_up_nobody() -> None:
    async with Fleet("one", "two") as fleet:
        await begin(fleet)
        await place(fleet, "a", {"k": "1"})
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="", two="")

        # Admission refuses a change, and later does not.
        two = fleet.members["two"].client
        rules = [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["configmaps"]}
        ]
        policy = {
            "metadata": {"name": "deny"},
            "spec": {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "object.data.k != '2'", "message": "not two"}]},
        }  # fmt: skip
        await two.create(POLICIES, policy)
        await two.create(
            BINDINGS,
            {"metadata": {"name": "deny"}, "spec": {"policyName": "deny", "validationActions": ["Deny"]}},
        )

        async def denies() -> bool:
            try:
                await two.patch(CONFIG_MAPS, "a", {"data": {"k": "2"}}, "demo", dry_run=True)
                return False
            except Exception as error:
                return "not two" in str(error)

        await eventually(denies)
        await change(fleet, "a", {"k": "2"})
        await fleet.settles(
            FEDERATED_CONFIG_MAPS, "a", "demo", all_="False CheckClusters", one="", two="UpdateFailed"
        )
        assert await data_of(fleet.members["one"], "a") == {"k": "2"}
        assert await data_of(fleet.members["two"], "a") == {"k": "1"}
        await change(fleet, "a", {"k": "3"})
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="", two="")

        # One that does not answer.
        member = fleet.federation.members.get("two")
        assert member is not None and member.client is not None
        transport, answers = member.client.transport, asyncio.Event()
        send = transport.send

        async def slow(method: str, *args: Any, **more: Any) -> Any:
            if method != "GET":
                await answers.wait()
            return await send(method, *args, **more)

        transport.send = slow  # type: ignore[method-assign]
        await change(fleet, "a", {"k": "4"})
        await fleet.settles(
            FEDERATED_CONFIG_MAPS, "a", "demo", all_="False CheckClusters", one="", two="UpdateTimedOut"
        )
        await place(fleet, "b", {"k": "1"}, placement={"clusters": [{"name": "one"}]})
        await fleet.settles(FEDERATED_CONFIG_MAPS, "b", "demo", one="")
        answers.set()
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="", two="")

        # A change in waves: the next cluster has its turn once the one before runs it, which a ConfigMap does at once.
        limit = {"spec": {"template": {"data": {"k": "w"}}, "rollout": {"maxClusters": 1}}}
        await fleet.host.client.patch(FEDERATED_CONFIG_MAPS, "a", limit, "demo")
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="", two="")
        await fleet.host.client.patch(
            FEDERATED_CONFIG_MAPS, "a", {"spec": {"rollout": {"maxClusters": "none"}}}, "demo"
        )
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", all_="False ComputePlacementFailed")
        await fleet.host.client.patch(FEDERATED_CONFIG_MAPS, "a", {"spec": {"rollout": None}}, "demo")
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="", two="")

        # One that is gone, and comes back.
        await fleet.members["two"].stop()
        await fleet.settles(
            FEDERATED_CONFIG_MAPS, "a", "demo", all_="False CheckClusters", one="", two="ClusterNotReady"
        )
        await change(fleet, "a", {"k": "5"})
        await fleet.settles(
            FEDERATED_CONFIG_MAPS, "a", "demo", all_="False CheckClusters", one="", two="ClusterNotReady"
        )
        assert await data_of(fleet.members["one"], "a") == {"k": "5"}


async def test_a_member_with_an_older_state_or_without_a_kind(tmp_path: Path) -> None:
    async with Fleet("one") as fleet:
        kept = fleet.members["old"] = Cluster(data_dir=tmp_path / "data")
        await kept.start()
        fleet.kubeconfig = fleet._write_kubeconfig()
        await begin(fleet)
        await place(fleet, "a", {"k": "1"})
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="", old="")
        await kept.stop()
        shutil.copytree(tmp_path / "data", tmp_path / "backup")
        await kept.start()
        await change(fleet, "a", {"k": "2"})
        await place(fleet, "b", {"k": "1"})
        for name in ("a", "b"):
            await fleet.settles(FEDERATED_CONFIG_MAPS, name, "demo", one="", old="")
        await kept.stop()
        shutil.rmtree(tmp_path / "data")
        shutil.copytree(tmp_path / "backup", tmp_path / "data")
        await kept.start()
        assert await data_of(kept, "a") == {"k": "1"}

        async def restored() -> bool:
            return await data_of(kept, "a") == {"k": "2"} and await data_of(kept, "b") == {"k": "1"}

        await eventually(restored)

        # A new leader writes nothing that is as it should be.
        versions = {
            name: (await cluster.client.get(CONFIG_MAPS, "a", "demo"))["metadata"]["resourceVersion"]
            for name, cluster in fleet.members.items()
        }
        await fleet.settles(FEDERATED_CONFIG_MAPS, "a", "demo", one="", old="")

        async def noted() -> bool:
            record = await fleet.host.client.get(PROPAGATED_VERSIONS, "configmap-a", "demo")
            rows = {row["clusterName"]: row["version"] for row in record["status"]["clusterVersions"]}
            return rows == {name: f"rv:{version}" for name, version in versions.items()}

        await eventually(noted)
        await fleet.stop()
        await fleet.start()
        await place(fleet, "c", {"k": "1"})
        await fleet.settles(FEDERATED_CONFIG_MAPS, "c", "demo", one="", old="")
        for name, cluster in fleet.members.items():
            now = (await cluster.client.get(CONFIG_MAPS, "a", "demo"))["metadata"]["resourceVersion"]
            assert now == versions[name]

        # What is orphaned stays, and is nobody's any more.
        await fleet.kubefedctl("orphaning-deletion", "enable", "federatedconfigmap", "a", "-n", "demo")
        await fleet.host.client.delete(FEDERATED_CONFIG_MAPS, "a", "demo")

        async def free() -> bool:
            copies = [
                await cluster.client.get(CONFIG_MAPS, "a", "demo") for cluster in fleet.members.values()
            ]
            return not any("kubefed.io/managed" in (obj["metadata"].get("labels") or {}) for obj in copies)

        await eventually(free)

        # A kind of somebody's own, whose definition a member loses.
        definition: dict[str, Any] = {
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}],
            },
        }  # fmt: skip
        for cluster in (fleet.host, *fleet.members.values()):
            await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition)
        await fleet.kubefedctl("enable", "widgets")
        kind = Ref("types.kubefed.io", "v1beta1", "federatedwidgets", "FederatedWidget")
        await fleet.host.client.create(kind, federated(kind, "w", "demo", {}))
        await fleet.settles(kind, "w", "demo", one="", old="")
        await kept.client.delete(CUSTOM_RESOURCE_DEFINITIONS, "widgets.example.com")
        await fleet.settles(
            kind, "w", "demo", all_="False CheckClusters", one="", old="CachedRetrievalFailed"
        )
        await kept.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition)
        await fleet.settles(kind, "w", "demo", one="", old="")
