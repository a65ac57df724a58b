"""Tokens for joining and tokens of service accounts, in secrets."""

from __future__ import annotations

import base64
import math
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import CONFIG_MAPS, SECRETS, SERVICE_ACCOUNTS
from pybernetes.control_plane.controllers import (
    bootstrap_signer,
    legacy_serviceaccount_token_cleaner,
    serviceaccount_token,
    token_cleaner,
)
from pybernetes.control_plane.controllers._tokens import bootstrap
from pybernetes.control_plane.controllers.legacy_serviceaccount_token_cleaner import (
    INVALID_SINCE,
    LAST_USED,
    decide,
    mounted_secrets,
)
from pybernetes.lib import jose, rfc3339
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster, eventually
from tests.control_plane.controllers.managers import controllers, get_or_none


def encoded(**values: str) -> dict[str, str]:
    return {name.replace("_", "-"): base64.b64encode(text.encode()).decode() for name, text in values.items()}


def bootstrap_token(identifier: str, expiration: str = "", **more: str) -> Object:
    values = {
        "token_id": identifier,
        "token_secret": "0123456789abcdef",
        "usage_bootstrap_signing": "true",
        **more,
    }
    if expiration:
        values["expiration"] = expiration
    meta = {"name": f"bootstrap-token-{identifier}", "namespace": "kube-system"}
    return {"metadata": meta, "type": bootstrap.TYPE, "data": encoded(**values)}


def test_a_known_signature() -> None:
    # As the API documents it for clients that check it.
    signature = bootstrap.detached_signature("content", "abcdef", "0123456789abcdef")
    header, empty, _ = signature.split(".")
    assert empty == ""
    assert orjson.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "HS256", "kid": "abcdef"}
    assert signature == bootstrap.detached_signature("content", "abcdef", "0123456789abcdef")
    assert signature != bootstrap.detached_signature("content!", "abcdef", "0123456789abcdef")


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        (bootstrap_token("abcdef"), ("abcdef", "0123456789abcdef")),
        (bootstrap_token("abcdef", "2026-06-01T00:00:00Z"), ("abcdef", "0123456789abcdef")),
        (bootstrap_token("abcdef", "2025-06-01T00:00:00Z"), None),
        (bootstrap_token("abcdef", "soon"), None),
        (bootstrap_token("abcdef", usage_bootstrap_signing="false"), None),
        (bootstrap_token("abcdef", token_id="ghijkl"), None),
        ({**bootstrap_token("abcdef"), "metadata": {"name": "mine"}}, None),
    ],
)
def test_which_tokens_sign(secret: Object, expected: tuple[str, str] | None) -> None:
    now = rfc3339.parse("2026-01-01T00:00:00Z")
    assert bootstrap.signing_token(secret, now) == expected


def test_time_left() -> None:
    now = rfc3339.parse("2026-01-01T00:00:00Z")
    assert bootstrap.seconds_left(bootstrap_token("abcdef"), now) == math.inf
    assert bootstrap.seconds_left(bootstrap_token("abcdef", "2026-01-01T00:01:00Z"), now) == 60


async def test_cluster_info_is_signed_and_old_tokens_go() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        both = (bootstrap_signer.CONTROLLER, token_cleaner.CONTROLLER)
        async with controllers(client, *both, clock=clock):
            info = {"name": "cluster-info", "namespace": "kube-public"}
            await client.create(CONFIG_MAPS, {"metadata": info, "data": {"kubeconfig": "content"}})
            await client.create(SECRETS, bootstrap_token("abcdef"))
            await client.create(SECRETS, bootstrap_token("ghijkl", rfc3339.seconds(clock.now() + 60)))

            async def signatures() -> set[str]:
                data = (await client.get(CONFIG_MAPS, "cluster-info", "kube-public"))["data"]
                return {name for name in data if name.startswith("jws-")}

            async def are(*expected: str) -> None:
                async def so() -> bool:
                    return await signatures() == {f"jws-kubeconfig-{name}" for name in expected}

                await eventually(so)

            await are("abcdef", "ghijkl")
            await clock.advance(62)
            await are("abcdef")

            async def gone() -> bool:
                return await get_or_none(client.get(SECRETS, "bootstrap-token-ghijkl", "kube-system")) is None

            await eventually(gone)


async def make_account(client: Client, name: str) -> Object:
    return await client.create(SERVICE_ACCOUNTS, {"metadata": {"name": name, "namespace": "default"}})


async def make_token(client: Client, name: str, account: str) -> Object:
    annotations = {"kubernetes.io/service-account.name": account}
    return await client.create(
        SECRETS,
        {
            "metadata": {"name": name, "namespace": "default", "annotations": annotations},
            "type": "kubernetes.io/service-account-token",
        },
    )


async def test_secrets_get_tokens(tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    key_file.write_bytes(jose.new_private_key())
    async with Cluster() as cluster:
        client, authority = cluster.client, cluster.directory / "ca.crt"
        options = {"service_account_private_key_file": str(key_file), "root_ca_file": str(authority)}
        async with controllers(client, serviceaccount_token.CONTROLLER, **options):
            account = await make_account(client, "robot")
            await make_token(client, "token", "robot")

            async def filled() -> Any:
                secret = await client.get(SECRETS, "token", "default")
                return secret if secret.get("data") else None

            secret = await eventually(filled)
            data = {name: base64.b64decode(text).decode() for name, text in secret["data"].items()}
            assert data["namespace"] == "default"
            assert data["ca.crt"] == authority.read_text()
            parsed = jose.parse(data["token"].encode())
            jose.verify(parsed, jose.read_public_keys(key_file))
            claims = orjson.loads(base64.urlsafe_b64decode(data["token"].split(".")[1] + "=="))
            assert claims == {
                "iss": "kubernetes/serviceaccount",
                "sub": "system:serviceaccount:default:robot",
                "kubernetes.io/serviceaccount/namespace": "default",
                "kubernetes.io/serviceaccount/service-account.name": "robot",
                "kubernetes.io/serviceaccount/service-account.uid": account["metadata"]["uid"],
                "kubernetes.io/serviceaccount/secret.name": "token",
            }
            uid = secret["metadata"]["annotations"]["kubernetes.io/service-account.uid"]
            assert uid == account["metadata"]["uid"]

            async def gone(name: str) -> bool:
                return await get_or_none(client.get(SECRETS, name, "default")) is None

            # Without its account it goes.
            await client.delete(SERVICE_ACCOUNTS, "robot", "default")
            await eventually(lambda: gone("token"))
            # An account forgets secrets that are gone.
            await make_account(client, "other")
            await make_token(client, "listed", "other")
            listed = {"secrets": [{"name": "listed"}, {"name": "kept"}]}
            await client.patch(SERVICE_ACCOUNTS, "other", listed, "default")
            await client.delete(SECRETS, "listed", "default")

            async def forgotten() -> bool:
                secrets = (await client.get(SERVICE_ACCOUNTS, "other", "default"))["secrets"]
                return secrets == [{"name": "kept"}]

            await eventually(forgotten)


def legacy(created: str = "2024-01-01T00:00:00Z", **labels: str) -> Object:
    return {
        "metadata": {
            "name": "token", "namespace": "default", "creationTimestamp": created, "labels": labels,
            "annotations": {"kubernetes.io/service-account.name": "robot"},
        }
    }  # fmt: skip


ROBOT = {"metadata": {"name": "robot", "uid": "1"}, "secrets": [{"name": "token"}]}


@pytest.mark.parametrize(
    ("secret", "account", "mounted", "expected"),
    [
        (legacy(), ROBOT, False, "mark"),
        (legacy(**{INVALID_SINCE: "2025-06-01"}), ROBOT, False, "keep"),
        (legacy(**{INVALID_SINCE: "2024-06-01"}), ROBOT, False, "delete"),
        (legacy(**{INVALID_SINCE: "nonsense"}), ROBOT, False, "mark"),
        (legacy(**{LAST_USED: "2025-12-01"}), ROBOT, False, "keep"),
        (legacy(**{LAST_USED: "2024-12-01"}), ROBOT, False, "mark"),
        (legacy(**{LAST_USED: "nonsense"}), ROBOT, False, "keep"),
        (legacy("2025-06-01T00:00:00Z"), ROBOT, False, "keep"),
        (legacy(), ROBOT, True, "keep"),
        (legacy(), {**ROBOT, "secrets": []}, False, "keep"),
        (legacy(), None, False, "keep"),
    ],
)
def test_old_tokens(secret: Object, account: Object | None, mounted: bool, expected: str) -> None:
    now = rfc3339.parse("2026-01-01T00:00:00Z")
    assert decide(secret, account, mounted, now, 365 * 86400.0) == expected


def test_mounted_secrets() -> None:
    spec = {
        "volumes": [
            {"secret": {"secretName": "a"}},
            {"projected": {"sources": [{"secret": {"name": "b"}}, {"configMap": {"name": "x"}}]}},
            {"configMap": {"name": "x"}},
        ],
        "imagePullSecrets": [{"name": "c"}],
        "containers": [{"envFrom": [{"secretRef": {"name": "d"}}], "env": [{"name": "v", "value": "x"}]}],
        "initContainers": [{"env": [{"valueFrom": {"secretKeyRef": {"name": "e"}}}]}],
    }
    assert mounted_secrets([{"spec": spec}]) == {"a", "b", "c", "d", "e"}


async def test_tokens_that_nobody_uses_are_marked_and_deleted() -> None:
    async with Cluster() as cluster:
        client, clock = cluster.client, ManualClock(time.time())
        await make_account(client, "robot")
        await make_token(client, "token", "robot")
        await client.patch(SERVICE_ACCOUNTS, "robot", {"secrets": [{"name": "token"}]}, "default")
        cleaner = legacy_serviceaccount_token_cleaner.CONTROLLER
        period = {"legacy_service_account_token_clean_up_period": 3 * 86400.0}
        async with controllers(client, cleaner, clock=clock, **period) as manager:
            await eventually(lambda: all(informer.synced for informer in manager.runtime.informers))

            async def state() -> str:
                secret = await get_or_none(client.get(SECRETS, "token", "default"))
                if secret is None:
                    return "gone"
                return "marked" if INVALID_SINCE in secret["metadata"].get("labels", {}) else "there"

            async def becomes(expected: str) -> None:
                async def so() -> bool:
                    if await state() != expected:
                        await clock.advance(86400)
                    return await state() == expected

                await eventually(so)

            assert await state() == "there"
            await becomes("marked")
            await becomes("gone")
