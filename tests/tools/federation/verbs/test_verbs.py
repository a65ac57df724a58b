"""kubefedctl against API servers of a host and a member."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pybernetes.client.client import Client
from pybernetes.client.credentials import Authority, Token
from pybernetes.client.errors import Forbidden, NotFound
from pybernetes.client.refs import (
    CONFIG_MAPS,
    CUSTOM_RESOURCE_DEFINITIONS,
    NAMESPACES,
    SECRETS,
    SERVICE_ACCOUNTS,
    Ref,
)
from pybernetes.client.rest_transport import RestTransport
from pybernetes.control_plane.federation.kinds import FEDERATED_TYPE_CONFIGS, KUBEFED_CLUSTERS, NAMESPACE
from pybernetes.control_plane.federation.members.access import token_of
from pybernetes.tools.federation.errors import FederationError
from tests.control_plane.federation.fleet import FEDERATED_CONFIG_MAPS, FEDERATED_NAMESPACES, Fleet

pytestmark = pytest.mark.slow
WIDGETS = Ref("example.com", "v1", "widgets", "Widget")


def widget_definition() -> dict:
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"replicas": {"type": "integer", "format": "int32"}, "size": {"type": "string"}}}},
    }  # fmt: skip
    return {
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget", "singular": "widget", "shortNames": ["wd"]},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }  # fmt: skip


async def test_from_join_to_unjoin(tmp_path: Path) -> None:
    async with Fleet("one") as fleet:
        host, one = fleet.host.client, fleet.members["one"].client
        with pytest.raises(FederationError, match="Is a KubeFed control plane running in this namespace"):
            await fleet.kubefedctl("join", "one")
        await fleet.install("namespaces", "cm")
        assert "joined" in await fleet.kubefedctl("join", "one")

        # The account may do what federated kinds need, and no more.
        cluster = await host.get(KUBEFED_CLUSTERS, "one", NAMESPACE)
        secret = await host.get(SECRETS, cluster["spec"]["secretRef"]["name"], NAMESPACE)
        authority = Authority(fleet.members["one"].directory / "ca.crt")
        account = Client(RestTransport(fleet.members["one"].url, Token(authority, token_of(secret, "s"))))
        async with account:
            await account.create(CONFIG_MAPS, {"metadata": {"name": "x", "namespace": "default"}})
            with pytest.raises(Forbidden):
                await account.list(SECRETS, "default")
            with pytest.raises(Forbidden):
                await account.create(
                    SERVICE_ACCOUNTS, {"spec": {}}, "default", name="default", subresource="token"
                )
            with pytest.raises(Forbidden):
                await account.delete_collection(CONFIG_MAPS, "default")
            request = {"spec": {"expirationSeconds": 3600}}
            renewed = await account.create(
                SERVICE_ACCOUNTS, request, NAMESPACE, name="one-host", subresource="token"
            )
            assert renewed["status"]["token"]
            # A kind that is federated later is one that it may have to do with.
            assert "created in namespace" in await fleet.kubefedctl("enable", "secrets")
            await account.list(SECRETS, "default")

        with pytest.raises(FederationError, match="already exists in joining cluster"):
            await fleet.kubefedctl("join", "one")
        assert "joined" in await fleet.kubefedctl("join", "one", "--error-on-existing=false")
        with pytest.raises(FederationError, match="one already exists in host cluster"):
            await fleet.kubefedctl("join", "one", "--cluster-context", "host")
        assert not [
            obj
            for obj in (await host.list(SERVICE_ACCOUNTS, NAMESPACE)).items
            if obj["metadata"]["name"] == "one-host"
        ]
        assert len((await host.list(SECRETS, NAMESPACE)).items) == 1

        # A kind of somebody's own.
        await host.create(CUSTOM_RESOURCE_DEFINITIONS, widget_definition())
        with pytest.raises(FederationError, match='Unable to find api resource named "gadgets"'):
            await fleet.kubefedctl("enable", "gadgets")
        documents = list(yaml.safe_load_all(await fleet.kubefedctl("enable", "wd", "-o", "yaml")))
        assert [document["kind"] for document in documents] == [
            "FederatedTypeConfig",
            "CustomResourceDefinition",
        ]
        assert "federatedwidgets.types.kubefed.io created" in await fleet.kubefedctl("enable", "wd")
        crd = await host.get(CUSTOM_RESOURCE_DEFINITIONS, "federatedwidgets.types.kubefed.io")
        spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        assert spec["retainReplicas"] and spec["template"]["properties"]["spec"]["properties"]["size"] == {
            "type": "string"
        }

        # A namespace with what is in it.
        await host.create(NAMESPACES, {"metadata": {"name": "demo"}})
        await host.create(
            CONFIG_MAPS, {"metadata": {"name": "settings", "namespace": "demo"}, "data": {"a": "b"}}
        )
        await host.create(WIDGETS, {"metadata": {"name": "w", "namespace": "demo"}, "spec": {"size": "xl"}})
        printed = await fleet.kubefedctl(
            "federate", "ns", "demo", "--contents=true", "-s", "widgets", "--skip-api-resources=secrets,apps"
        )
        assert set(re.findall(r"^\S+", printed, re.M)) == {
            "federatednamespace.types.kubefed.io/demo", "federatedconfigmap.types.kubefed.io/settings",
        }  # fmt: skip
        assert (await host.get(FEDERATED_CONFIG_MAPS, "settings", "demo"))["spec"]["template"] == {
            "data": {"a": "b"}
        }
        shown = yaml.safe_load(await fleet.kubefedctl("federate", "widget", "w", "-n", "demo", "-o", "yaml"))
        assert shown["spec"]["template"] == {"spec": {"size": "xl"}}
        path = tmp_path / "objects.yaml"
        path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {x: y}\n")
        shown = yaml.safe_load(await fleet.kubefedctl("federate", "-f", str(path)))
        assert (shown["kind"], shown["metadata"]["namespace"]) == ("FederatedConfigMap", "b")

        orphaning = ("federatedconfigmap", "settings", "-n", "demo")
        assert await fleet.kubefedctl("orphaning-deletion", "status", *orphaning) == "Disabled\n"
        await fleet.kubefedctl("orphaning-deletion", "enable", *orphaning)
        assert await fleet.kubefedctl("orphaning-deletion", "status", *orphaning) == "Enabled\n"
        await fleet.kubefedctl("orphaning-deletion", "disable", *orphaning)
        assert await fleet.kubefedctl("orphaning-deletion", "status", *orphaning) == "Disabled\n"

        with pytest.raises(FederationError, match="while resource instances exist"):
            await fleet.kubefedctl("disable", "configmaps", "--delete-crd")
        with pytest.raises(FederationError, match="--version flag valid only with --delete-crd"):
            await fleet.kubefedctl("disable", "wd", "--version", "v1")
        name = f'"{NAMESPACE}/widgets.example.com"'
        assert await fleet.kubefedctl("disable", "wd", "--delete-crd") == (
            f"Disabled propagation for FederatedTypeConfig {name}\n"
            'customresourcedefinition "federatedwidgets.types.kubefed.io" deleted\n'
            f"federatedtypeconfig {name} deleted\n"
        )
        assert await fleet.kubefedctl("disable", "wd") == f"FederatedTypeConfig {name} does not exist\n"
        shown = await fleet.kubefedctl("orphaning-deletion", "status", "cm", "settings", "-n", "demo")
        assert shown == "Warning: configmaps/v1 might not be a federated resource\nDisabled\n"
        with pytest.raises(NotFound):
            await host.get(FEDERATED_TYPE_CONFIGS, "widgets.example.com", NAMESPACE)

        assert "left" in await fleet.kubefedctl("unjoin", "one")
        with pytest.raises(NotFound):
            await one.get(SERVICE_ACCOUNTS, "one-host", NAMESPACE)
        assert not (await host.list(KUBEFED_CLUSTERS, NAMESPACE)).items
        assert not (await host.list(SECRETS, NAMESPACE)).items
        assert FEDERATED_NAMESPACES.kind == (await host.get(FEDERATED_NAMESPACES, "demo", "demo"))["kind"]
