"""access: whether the user may do some things, so that pages offer what can be done; one answer."""

from __future__ import annotations

import asyncio
from typing import Any

from pybernetes.tools.dashboard.live._channel import Channel

_MOST = 32
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_ATTRIBUTES = ("verb", "group", "resource", "subresource", "namespace", "name")


async def run(channel: Channel) -> None:
    """Send whether each of the things that the page names is allowed, in their order."""
    asks = channel.list("asks")
    if len(asks) > _MOST:
        raise ValueError(f"at most {_MOST} things can be asked at once")
    await channel.send({"allowed": await asyncio.gather(*(_allowed(channel, ask) for ask in asks))})


async def _allowed(channel: Channel, ask: Any) -> bool:
    attributes = {name: ask[name] for name in _ATTRIBUTES if ask.get(name)}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = await channel.user.client.call("POST", _REVIEWS, body=review)
    return bool((answer.get("status") or {}).get("allowed"))


RUN = run
