"""why: the answer in words to why an object is as it is, or why the user may not do something; one answer."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from pybernetes.client.kubeconfig import Config
from pybernetes.tools.dashboard.live._channel import Channel
from pybernetes.tools.why import access, reading
from pybernetes.tools.why.access import User, Wish
from pybernetes.tools.why.finding import Answer

_USER_AGENT = "pyb-dashboard"


async def run(channel: Channel) -> None:
    """Send the answer.

    It may need a look at the whole cluster with the scheduler's rules, which takes long: it is found beside the loop.
    """
    asks = _question(channel)
    config = channel.user.config
    async with channel.user.questions:
        answer = await asyncio.to_thread(lambda: asyncio.run(_answer(config, asks)))
    await channel.send({"answer": answer.as_json()})


class Rights(NamedTuple):
    """The question what a user may do in a namespace; without a name it is the one who asks."""

    namespace: str
    user: User | None


Question = tuple[str, str, str] | Wish | Rights


def _question(channel: Channel) -> Question:
    if channel.text("rights"):
        groups = tuple(group for group in channel.text("groups").split(",") if group)
        user = User(channel.text("user"), groups) if channel.text("user") else None
        return Rights(channel.name("namespace"), user)
    if verb := channel.text("verb"):
        plural, group, subresource = (channel.text(name) for name in ("resource", "group", "subresource"))
        return Wish(verb, plural, group, subresource, channel.text("namespace"), channel.text("name"))
    if message := channel.text("message"):
        refused = access.refusal(message)
        if refused is None:
            raise ValueError("that is not what a server says that refuses something")
        return refused[1]
    resource = channel.text("resource")
    for question in reading.questions().values():
        # Kinds of others may have the same name.
        if str(question.ref) == resource:
            return question.names[0], channel.text("name"), channel.text("namespace")
    raise ValueError(f"nothing can be said about {resource}")


async def _answer(config: Config, asks: Question) -> Answer:
    async with config.client(user_agent=_USER_AGENT) as client:
        if isinstance(asks, Rights):
            return await reading.rights(client, asks.namespace, asks.user)
        if isinstance(asks, Wish):
            return await reading.may(client, asks)
        kind, name, namespace = asks
        return await reading.ask(client, kind, name, namespace)


RUN = run
