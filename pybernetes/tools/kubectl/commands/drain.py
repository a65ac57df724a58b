"""drain: cordons nodes and moves their pods away."""

from __future__ import annotations

import time
from collections.abc import Callable

from pybernetes.api.text.durations import show_duration
from pybernetes.lib.rfc3339 import parse as parse_time
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands._nodes import cordon, nodes
from pybernetes.tools.kubectl.connection.client import path_of
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.describe._writer import controller_of
from pybernetes.tools.kubectl.errors import ApiError, CommandError, Verbatim, not_found, quoted, raise_all
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.waiting import TimedOut, until

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


SUMMARY = "Drain node in preparation for maintenance"
USAGE = "drain NODE"
COMPLETION = "names nodes"
FLAGS = (shared_flags.DRY_RUN, shared_flags.SELECTOR, shared_flags.CHUNK, """
- delete-emptydir-data bool false | go on even if pods have data in emptyDir volumes, which is lost
- disable-eviction bool false | delete pods instead of evicting them, whatever disruption budgets say
- force bool false | go on even if pods have no controller
- grace-period int -1 | seconds for each pod to end; negative is what the pod says
- ignore-daemonsets bool false | leave pods of daemon sets where they are
- pod-selector string | only pods with these labels
- skip-wait-for-delete-timeout int 0 | do not wait for pods that have been going for longer than so many seconds
- timeout duration 0s | how long to wait; 0 is without end
""")  # fmt: skip
_RETRY_SECONDS = 5.0
_LATE = "context deadline exceeded"
_MIRROR = "kubernetes.io/config.mirror"


def run(context: Context) -> None:
    """Drain nodes, one after another."""
    if context.flags.pod_selector:
        from pybernetes.api.selectors import SelectorError, parse_labels

        try:
            parse_labels(context.flags.pod_selector)
        except SelectorError:
            raise CommandError("--pod-selector=<pod_selector> must be a valid label selector") from None
    builder, infos = nodes(context, "drain NODE")
    raise_all(builder.errors)
    for info in infos:
        cordon(context, info, True)
    failed: list[CommandError] = []
    pending = [info.name for info in infos]
    for info in infos:
        try:
            errors = _drain(context, info)
        except CommandError as error:
            errors = [error]
        if errors:
            context.warn(
                f"error: unable to drain node {quoted(info.name)} due to error: {_together(errors)}, continuing command..."
            )
            failed += errors
            continue
        pending.remove(info.name)
        suffix = {"client": " (dry run)", "server": " (server dry run)"}.get(context.flags.dry_run, "")
        context.out(f"node/{info.name} drained{suffix}")
    if failed:
        context.warn("There are pending nodes to be drained:")
        for name in pending:
            context.warn(f" {name}")
        raise Verbatim("\n".join(error.short() for error in failed))


def _drain(context: Context, info: Info) -> list[CommandError]:
    chosen, warnings, errors = choose(context, _pods(context, info))
    if errors:
        return [CommandError(f"cannot delete {text}: {', '.join(names)}") for text, names in errors.items()]
    if warnings:
        context.warn(
            "Warning: " + "; ".join(f"{text}: {', '.join(names)}" for text, names in warnings.items())
        )
    failed = _remove(context, chosen)
    if failed and (pending := choose(context, _pods(context, info))[0]):
        context.warn(
            f"There are pending pods in node {quoted(info.name)} when an error occurred: {_together(failed)}"
        )
        for pod in pending:
            context.warn(f"pod/{pod['metadata']['name']}")
    return failed


def _pods(context: Context, info: Info) -> list[Object]:
    flags = context.flags
    listed = context.client.list(
        context.discovery.find("pods"),
        "",
        chunk=flags.chunk_size,
        fields=f"spec.nodeName={info.name}",
        labels=flags.pod_selector,
    )
    return listed.get("items") or []


def _together(errors: list[CommandError]) -> str:
    """Return the messages of errors as those of one."""
    words = [error.message for error in errors]
    return words[0] if len(words) == 1 else f"[{', '.join(words)}]"


def _remove(context: Context, pods: list[Object]) -> list[CommandError]:
    """Evict pods and wait until they are gone; return what went wrong with any of them."""
    flags = context.flags
    deadline = time.monotonic() + (flags.timeout or 10**9)
    failed: list[CommandError] = []
    going = []
    for pod in pods:
        try:
            _evict(context, pod, deadline)
            going.append(pod)
        except CommandError as error:
            failed.append(error)
            if flags.disable_eviction:
                return failed
    if flags.dry_run != "none":
        return failed
    for pod in going:
        metadata = pod["metadata"]
        target = Info(context.discovery.find("pods"), metadata["namespace"], metadata["name"], pod)
        try:
            if _wait(context, target, deadline):
                context.out(f"pod/{target.name} {'deleted' if flags.disable_eviction else 'evicted'}")
            else:
                seconds = flags.skip_wait_for_delete_timeout
                context.out(
                    f"pod {quoted(target.name)} has DeletionTimestamp older than {seconds} seconds, skipping"
                )
        except TimedOut:
            if flags.disable_eviction:
                return [*failed, CommandError(_LATE)]
            where = f"pod {quoted(target.name)} in namespace {quoted(target.namespace)}"
            failed.append(CommandError(f"error when waiting for {where} to terminate: {_LATE}"))
    return failed


def _wait(context: Context, target: Info, deadline: float) -> bool:
    """Wait until a pod is gone, and return True; False if it has been going for too long."""
    skip, uid = context.flags.skip_wait_for_delete_timeout, target.object["metadata"]["uid"]
    if not skip:
        until(context, target, _gone(uid), deadline)
        return True
    value = until(context, target, lambda value: _gone(uid)(value) or _has_deadline(value), deadline)
    if value is None or _gone(uid)(value):
        return True
    left = parse_time(value["metadata"]["deletionTimestamp"]) + skip - time.time()
    try:
        until(context, target, _gone(uid), min(deadline, time.monotonic() + max(left, 0)))
    except TimedOut:
        if time.monotonic() >= deadline:
            raise
        return False
    return True


def _has_deadline(value: Object | None) -> bool:
    return bool(value and value["metadata"].get("deletionTimestamp"))


def _is_going(metadata: Object, seconds: int) -> bool:
    """Return whether a pod has been going for longer than we care to wait."""
    since: str = metadata.get("deletionTimestamp") or ""
    return seconds > 0 and since != "" and time.time() - parse_time(since) > seconds


def _gone(uid: str) -> Callable[[Object | None], bool]:
    return lambda value: value is None or value["metadata"]["uid"] != uid


def choose(
    context: Context, pods: list[Object]
) -> tuple[list[Object], dict[str, list[str]], dict[str, list[str]]]:
    """Return the pods to move, what to warn about, and what stands in the way."""
    flags = context.flags
    chosen: list[Object] = []
    warnings: dict[str, list[str]] = {}
    errors: dict[str, list[str]] = {}
    for pod in pods:
        metadata = pod["metadata"]
        name = f"{metadata['namespace']}/{metadata['name']}"
        ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        owner = controller_of(pod)
        if _is_going(metadata, flags.skip_wait_for_delete_timeout):
            continue
        if _MIRROR in (metadata.get("annotations") or {}):
            continue
        if owner.get("kind") == "DaemonSet" and not ended:
            if not flags.ignore_daemonsets:
                errors.setdefault("DaemonSet-managed Pods (use --ignore-daemonsets to ignore)", []).append(
                    name
                )
            else:
                warnings.setdefault("ignoring DaemonSet-managed Pods", []).append(name)
            continue
        if not ended and any("emptyDir" in volume for volume in (pod.get("spec") or {}).get("volumes") or ()):
            if not flags.delete_emptydir_data:
                text = "Pods with local storage (use --delete-emptydir-data to override)"
                errors.setdefault(text, []).append(name)
                continue
        if not ended and not owner:
            if not flags.force:
                text = "Pods that declare no controller (use --force to override)"
                errors.setdefault(text, []).append(name)
                continue
            warnings.setdefault("deleting Pods that declare no controller", []).append(name)
        chosen.append(pod)
    return chosen, warnings, errors


def _evict(context: Context, pod: Object, deadline: float) -> None:
    """Ask for an eviction, again and again while a disruption budget does not allow it."""
    flags = context.flags
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    suffix = {"client": " (dry run)", "server": " (server dry run)"}.get(flags.dry_run, "")
    context.out(f"evicting pod {namespace}/{name}{suffix}")
    if flags.dry_run == "client":
        return
    options: dict[str, Any] = {}
    if flags.grace_period >= 0:
        options["gracePeriodSeconds"] = flags.grace_period
    if flags.dry_run == "server":
        options["dryRun"] = ["All"]
    resource = context.discovery.find("pods")
    if flags.disable_eviction:
        context.client.delete(resource, namespace, name, options or None)
        return
    body = {
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace},
        "deleteOptions": options,
    }  # fmt: skip
    while True:
        try:
            context.client.json("POST", path_of(resource, namespace, name, "eviction"), body)
            return
        except ApiError as error:
            if not_found(error):
                return
            if error.reason != "TooManyRequests":
                raise CommandError(
                    f"error when evicting pods/{quoted(name)} -n {quoted(namespace)}: {error.message}"
                ) from None
            pause = (error.status.get("details") or {}).get("retryAfterSeconds") or 0
            if (
                context.client.timeout and pause >= context.client.timeout
            ):  # --request-timeout is over by then
                raise CommandError(
                    f"error when evicting pods/{quoted(name)} -n {quoted(namespace)}: {_LATE}"
                ) from None
            if time.monotonic() > deadline:
                raise CommandError(
                    f"error when evicting pods/{quoted(name)} -n {quoted(namespace)}: global timeout reached: "
                    f"{show_duration(flags.timeout)}"
                ) from None
            context.warn(
                f"error when evicting pods/{quoted(name)} -n {quoted(namespace)} (will retry after 5s): {error.message}"
            )
            time.sleep(_RETRY_SECONDS)  # nothing tells when the budget allows it
