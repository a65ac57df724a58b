"""Secrets of service accounts get tokens."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import orjson

from pybernetes.client.refs import SECRETS, SERVICE_ACCOUNTS
from pybernetes.control_plane.controllers import (
    serviceaccount_token,
)
from pybernetes.lib.tokens import jose
from tests.cluster import Cluster
from tests.control_plane.controllers._tokens.secrets import make_account, make_token
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.support import eventually


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
