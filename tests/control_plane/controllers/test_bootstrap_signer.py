"""The cluster information is signed with bootstrap tokens, and old ones go."""

from __future__ import annotations

import time

from pybernetes.client.refs import CONFIG_MAPS, SECRETS
from pybernetes.control_plane.controllers import (
    bootstrap_signer,
    token_cleaner,
)
from pybernetes.lib import rfc3339
from pybernetes.lib.clock import ManualClock
from tests.cluster import Cluster
from tests.control_plane.controllers._tokens.secrets import bootstrap_token
from tests.control_plane.controllers.managers import controllers, get_or_none
from tests.support import eventually


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
