"""Plugins for namespaces, nodes, claims, ingresses, services and owners."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.errors import StatusError
from tests.control_plane.apiserver.admission.world import Object, World, pod
from tests.support import run

GOING = {
    "metadata": {"name": "one", "deletionTimestamp": "2026-01-01T00:00:00Z"},
    "status": {"phase": "Terminating"},
}


def test_namespace_lifecycle() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("NamespaceLifecycle")
            assert not await world.refusal(chain, "pods", pod())
            assert not await world.refusal(chain, "nodes", {"metadata": {"name": "n"}})
            assert (
                await world.refusal(chain, "pods", pod(), namespace="gone") == 'namespaces "gone" not found'
            )
            review = "localsubjectaccessreviews.authorization.k8s.io"
            assert not await world.refusal(chain, review, {"metadata": {}}, namespace="gone")
            await world.add("", "namespaces", GOING)
            with pytest.raises(StatusError) as caught:
                await world.admit(chain, "pods", pod("", metadata={"generateName": "web-"}))
            assert caught.value.message == (
                'pods "web-" is forbidden: unable to create new content in namespace one because it is being terminated'
            )
            assert (caught.value.details or {})["causes"] == [
                {
                    "reason": "NamespaceTerminating",
                    "message": "namespace one is being terminated",
                    "field": "metadata.namespace",
                }
            ]
            assert not await world.refusal(chain, "pods", pod(), pod())
            for name in ("default", "kube-system", "kube-public"):
                found = await world.refusal(chain, "namespaces", None, operation="DELETE", name=name)
                assert found == f'namespaces "{name}" is forbidden: this namespace may not be deleted'
            assert not await world.refusal(chain, "namespaces", None, operation="DELETE", name="one")

    run(test())


def test_namespaces_that_must_exist_or_are_made() -> None:
    async def test() -> None:
        async with World() as world:
            exists, makes = world.chain("NamespaceExists"), world.chain("NamespaceAutoProvision")
            assert (
                await world.refusal(exists, "pods", pod(), pod(), namespace="two")
                == 'namespaces "two" not found'
            )
            await world.admit(makes, "pods", pod(), namespace="two", dry_run=True)
            assert await world.refusal(exists, "pods", pod(), namespace="two")
            await world.admit(makes, "pods", pod(), namespace="two")
            assert not await world.refusal(exists, "pods", pod(), namespace="two")

    run(test())


def test_new_nodes_are_not_ready() -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}

    async def test() -> None:
        async with World() as world:
            chain = world.chain("TaintNodesByCondition")
            made = await world.admit(chain, "nodes", {"metadata": {"name": "n"}})
            assert made["spec"]["taints"] == [taint]
            assert await world.admit(chain, "nodes", made) == made
            old = {"metadata": {"name": "n"}}
            assert await world.admit(chain, "nodes", old, old) == old

    run(test())


def claim(name: str = "c", size: str = "1Gi", *, status: Object | None = None, **spec: Any) -> Object:
    asked = {"resources": {"requests": {"storage": size}}, **spec}
    return {"metadata": {"name": name}, "spec": asked, **({"status": status} if status else {})}


def storage_class(
    name: str, made: str = "", *, annotation: str = "storageclass.kubernetes.io", **more: Any
) -> Object:
    meta = {"name": name, "creationTimestamp": f"2026-01-0{made}T00:00:00Z"} if made else {"name": name}
    annotations = {f"{annotation}/is-default-class": "true"} if made else {}
    return {"metadata": {**meta, "annotations": annotations}, **more}


@pytest.mark.parametrize(
    ("classes", "given", "expected"),
    [
        ([storage_class("a")], {}, None),
        ([storage_class("a", "1")], {}, "a"),
        ([storage_class("a", "1"), storage_class("b", "2")], {}, "b"),
        ([storage_class("b", "2"), storage_class("a", "2")], {}, "a"),
        ([storage_class("a", "1", annotation="storageclass.beta.kubernetes.io")], {}, "a"),
        ([storage_class("a", "1")], {"storageClassName": ""}, ""),
        ([storage_class("a", "1")], {"storageClassName": "x"}, "x"),
    ],
)
def test_default_storage_class(classes: list[Object], given: Object, expected: str | None) -> None:
    async def test() -> None:
        async with World() as world:
            for each in classes:
                await world.add("storage.k8s.io", "storageclasses", each)
            chain = world.chain("DefaultStorageClass", "StorageObjectInUseProtection")
            made = await world.admit(chain, "persistentvolumeclaims", claim(**given))
            assert made["spec"].get("storageClassName") == expected
            assert made["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]

    run(test())


def test_an_old_annotation_is_a_storage_class_too() -> None:
    async def test() -> None:
        async with World() as world:
            await world.add("storage.k8s.io", "storageclasses", storage_class("a", "1"))
            given = claim()
            given["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": "x"}
            made = await world.admit(world.chain("DefaultStorageClass"), "persistentvolumeclaims", given)
            assert "storageClassName" not in made["spec"]

    run(test())


@pytest.mark.parametrize(
    ("resource", "finalizer"),
    [
        ("persistentvolumes", "kubernetes.io/pv-protection"),
        ("volumeattributesclasses.storage.k8s.io", "kubernetes.io/vac-protection"),
    ],
)
def test_storage_in_use_is_protected(resource: str, finalizer: str) -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("StorageObjectInUseProtection")
            made = await world.admit(chain, resource, {"metadata": {"name": "x", "finalizers": ["a"]}})
            assert made["metadata"]["finalizers"] == ["a", finalizer]
            assert await world.admit(chain, resource, made) == made

    run(test())


BOUND = {"phase": "Bound"}
CANNOT = "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"


@pytest.mark.parametrize(
    ("new", "old", "message"),
    [
        (claim(size="1Gi"), claim(size="2Gi"), ""),
        (claim(size="2Gi"), claim(size="1Gi"), "Only bound persistent volume claims can be expanded"),
        (claim(size="2Gi"), claim(size="1Gi", status=BOUND), CANNOT),
        (claim(size="2Gi", storageClassName="no"), claim(storageClassName="no", status=BOUND), CANNOT),
        (claim(size="2Gi", storageClassName="gone"), claim(storageClassName="gone", status=BOUND), CANNOT),
        (claim(size="2Gi", storageClassName="yes"), claim(storageClassName="no", status=BOUND), CANNOT),
        (claim(size="2Gi", storageClassName="yes"), claim(storageClassName="yes", status=BOUND), ""),
    ],
)
def test_persistent_volume_claim_resize(new: Object, old: Object, message: str) -> None:
    async def test() -> None:
        async with World() as world:
            await world.add(
                "storage.k8s.io", "storageclasses", storage_class("yes", allowVolumeExpansion=True)
            )
            await world.add("storage.k8s.io", "storageclasses", storage_class("no"))
            found = await world.refusal(
                world.chain("PersistentVolumeClaimResize"), "persistentvolumeclaims", new, old
            )
            assert found == (f'persistentvolumeclaims "c" is forbidden: {message}' if message else "")

    run(test())


def test_default_ingress_class() -> None:
    async def test() -> None:
        async with World() as world:
            chain, resource = world.chain("DefaultIngressClass"), "ingresses.networking.k8s.io"
            assert (
                "ingressClassName"
                not in (await world.admit(chain, resource, {"metadata": {"name": "i"}}))["spec"]
            )
            default = storage_class("a", "1", annotation="ingressclass.kubernetes.io")
            await world.add("networking.k8s.io", "ingressclasses", default)
            made = await world.admit(chain, resource, {"metadata": {"name": "i"}})
            assert made["spec"]["ingressClassName"] == "a"
            given = {"metadata": {"name": "i", "annotations": {"kubernetes.io/ingress.class": "x"}}}
            assert "ingressClassName" not in (await world.admit(chain, resource, given))["spec"]
            named = await world.admit(chain, resource, {"metadata": {}, "spec": {"ingressClassName": "x"}})
            assert named["spec"]["ingressClassName"] == "x"

    run(test())


def test_external_addresses_are_denied() -> None:
    def service(*addresses: str) -> Object:
        return {"metadata": {"name": "s"}, "spec": {"externalIPs": list(addresses)}}

    async def test() -> None:
        async with World() as world:
            chain = world.chain("DenyServiceExternalIPs")
            message = 'services "s" is forbidden: Use of external IPs is denied by admission control'
            assert await world.refusal(chain, "services", service("1.2.3.4")) == message
            assert not await world.refusal(chain, "services", service())
            assert not await world.refusal(
                chain, "services", service("1.2.3.4"), service("1.2.3.4", "1.2.3.5")
            )
            assert await world.refusal(chain, "services", service("1.2.3.4"), service()) == message

    run(test())


def owned(*references: Object) -> Object:
    return {"metadata": {"name": "c", "ownerReferences": list(references)}}


OWNER = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "u"}
BLOCKING = {**OWNER, "blockOwnerDeletion": True}
FORBIDDEN = 'configmaps "c" is forbidden: '


@pytest.mark.parametrize(
    ("new", "old", "allowed", "message"),
    [
        (owned(OWNER), None, (), ""),
        (owned(OWNER), owned(OWNER), (), ""),
        (owned(), owned(OWNER), (), "cannot set an ownerRef on a resource you can't delete: , <nil>"),
        (owned(), owned(OWNER), [("delete", "configmaps", "c")], ""),
        (
            owned(BLOCKING),
            None,
            (),
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
        ),
        (owned(BLOCKING), None, [("update", "deployments/finalizers", "d")], ""),
        (owned(BLOCKING), None, [("update", "*/finalizers", "*")], ""),
        (
            owned(BLOCKING),
            owned(OWNER),
            [("delete", "configmaps", "c")],
            "cannot set blockOwnerDeletion if an",
        ),
        (owned({**BLOCKING, "name": "e"}), owned(BLOCKING), [("delete", "configmaps", "c")], ""),
        (
            owned({**BLOCKING, "kind": "Nothing"}),
            None,
            (),
            "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind "
            'Nothing: no matches for kind "Nothing" in version "apps/v1"',
        ),
    ],
)
def test_owner_references_need_permission(
    new: Object, old: Object | None, allowed: Any, message: str
) -> None:
    async def test() -> None:
        async with World() as world:
            world.permissions.allowed = set(allowed)
            found = await world.refusal(
                world.chain("OwnerReferencesPermissionEnforcement"), "configmaps", new, old
            )
            assert found.startswith(FORBIDDEN + message) if message else not found

    run(test())


def test_the_status_of_pods_changes_no_owners() -> None:
    async def test() -> None:
        async with World() as world:
            chain = world.chain("OwnerReferencesPermissionEnforcement")
            assert not await world.refusal(chain, "pods", owned(BLOCKING), owned(), subresource="status")
            assert not world.permissions.asked

    run(test())
