"""Lifecycle hooks of containers: postStart and preStop, each a command, an HTTP request or a sleep."""

from __future__ import annotations

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.resource import Object
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.node.kubelet.probes import handlers, http

_MESSAGE = 1024  # bytes of what a hook printed that are told
_AGENT = "kube-lifecycle/" + ".".join(KUBERNETES_VERSION.removeprefix("v").split(".")[:2])


class HookFailed(Exception):
    """A hook failed."""


async def run(
    cri: CriClient, clock: Clock, hook: Object, container: Object, run_id: str, address: str
) -> None:
    """Run a hook to its end; raise HookFailed if it fails."""
    if "exec" in hook:
        command = hook["exec"].get("command", [])
        try:
            code, output, errors = await cri.exec_sync(run_id, command, limit=_MESSAGE)
        except CriError as error:
            raise HookFailed(f"Exec lifecycle hook ({command}) failed - error: {error.message}") from None
        if code:
            text = (output + errors)[:_MESSAGE].decode(errors="replace")
            raise HookFailed(f"Exec lifecycle hook ({command}) failed - exit code {code}, message: {text!r}")
    elif "httpGet" in hook:
        try:
            url = handlers.url_of(hook["httpGet"], container, address)
            answer = await http.get(url, handlers.header_list(hook["httpGet"]), _AGENT)
        except (OSError, handlers.Failed) as error:
            raise HookFailed(f"HTTP lifecycle hook failed - error: {error}") from None
        if answer.status >= 400:
            raise HookFailed(f"HTTP lifecycle hook ({url}) failed - status {answer.status}")
    elif "sleep" in hook:
        await clock.sleep(hook["sleep"].get("seconds", 0))
    else:
        raise HookFailed("invalid handler: the hook has none")
