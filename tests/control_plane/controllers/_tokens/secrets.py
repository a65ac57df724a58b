"""Secrets with tokens."""

from __future__ import annotations

import base64

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.client.refs import SECRETS, SERVICE_ACCOUNTS
from pybernetes.control_plane.controllers._tokens import bootstrap


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
