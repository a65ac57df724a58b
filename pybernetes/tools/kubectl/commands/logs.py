"""logs: shows what containers write."""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.connection.client import failure, path_of, query_string
from pybernetes.tools.kubectl.connection.http import Connection
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import ApiError, CommandError, not_found
from pybernetes.tools.kubectl.output.times import check_rfc3339
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.pods import choose_container, named, pods_of

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


SUMMARY = "Print the logs for a container in a pod"
USAGE = "logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]"
COMPLETION = "pods containers"
FLAGS = (shared_flags.SELECTOR, """
- all-containers bool false | all containers of the pods
- all-pods bool false | all pods of the object, with prefixes
c container string | the container
f follow bool false | go on as more is written
- ignore-errors bool false | errors while following are not the end
- insecure-skip-tls-verify-backend bool false | do not check who the kubelet is
- limit-bytes int 0 | so many bytes at most
- max-log-requests int 5 | how many logs to follow at once
- pod-running-timeout duration 20s | how long to wait for a pod
- prefix bool false | begin each line with pod and container
p previous bool false | of the container's run before this one
- since duration 0s | only what is newer than this
- since-time string | only what is newer than this moment (RFC 3339)
- tail int -1 | so many of the last lines
- timestamps bool false | with the time of each line
""")  # fmt: skip
_RETRY_SECONDS = 1.0
_USAGE = "expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.\nPOD or TYPE/NAME is a required argument for the logs command"


def run(context: Context) -> None:
    """Print the logs."""
    flags, args = context.flags, context.args
    if len(args) > 2 or (not args and not flags.selector):
        raise context.usage(_USAGE)
    if len(args) == 1 and flags.selector:
        raise context.usage("only a selector (-l) or a POD name is allowed")
    container = args[1] if len(args) == 2 else flags.container
    if flags.since_time:
        check_rfc3339(flags.since_time)
    if flags.pod_running_timeout <= 0:
        raise CommandError("--pod-running-timeout must be higher than zero")
    named_pods = _selected(context) if flags.selector else _named(context)
    options = _options(context)
    targets = _targets(context, container, named_pods)
    if not targets:
        return
    if flags.follow and len(targets) > flags.max_log_requests and len(targets) > 1:
        raise CommandError(
            f"you are attempting to follow {len(targets)} log streams, but maximum allowed concurrency is "
            f"{flags.max_log_requests}, use --max-log-requests to increase the limit"
        )
    if flags.follow and len(targets) > 1:
        _parallel(context, targets, options)
    else:
        for pod, name in targets:
            _print(context, pod, name, options)


def _options(context: Context) -> dict[str, Any]:
    flags = context.flags
    if flags.since_time and flags.since:
        raise CommandError("at most one of `sinceTime` or `sinceSeconds` may be specified")
    if flags.all_containers and (flags.container or len(context.args) == 2):
        name = flags.container or context.args[1]
        raise CommandError(f"--all-containers=true should not be specified with container name {name}")
    if "container" in flags.changed and len(context.args) == 2:
        raise CommandError("only one of -c or an inline [CONTAINER] arg is allowed")
    if flags.limit_bytes < 0:
        raise CommandError("--limit-bytes must be greater than 0")
    if flags.since < 0:
        raise CommandError("--since must be greater than 0")
    if flags.tail < -1:
        raise CommandError("--tail must be greater than or equal to -1")
    tail: int | None = flags.tail if flags.tail != -1 else None
    if flags.selector and "tail" not in flags.changed:
        tail = 10
    return {
        "follow": flags.follow, "previous": flags.previous, "timestamps": flags.timestamps,
        "insecureSkipTLSVerifyBackend": flags.insecure_skip_tls_verify_backend, "sinceTime": flags.since_time,
        "limitBytes": flags.limit_bytes or None, "sinceSeconds": round(flags.since) if flags.since else None,
        "tailLines": str(tail) if tail is not None else None,
    }  # fmt: skip


def _selected(context: Context) -> list[Object]:
    """Return the pods that the selector chooses."""
    pods = context.discovery.find("pods")
    listed = context.client.list(pods, context.namespace, chunk=0, labels=context.flags.selector)
    if not listed.get("items"):
        context.warn(f"No resources found in {context.namespace} namespace.")
    return listed.get("items") or []


def _targets(context: Context, container: str, named_pods: list[Object] | Info) -> list[tuple[Object, str]]:
    """Return the pods and containers whose logs are wanted."""
    flags = context.flags
    if isinstance(named_pods, list):
        pods = named_pods
    else:
        try:
            pods = pods_of(context, named_pods, flags.pod_running_timeout)
        except CommandError as error:
            if error.message.startswith("selector for"):
                raise CommandError(
                    f"cannot get the logs from {error.message.split()[2]}: {error.message}"
                ) from None
            raise
        if len(pods) > 1 and not flags.all_pods:
            context.warn(f"Found {len(pods)} pods, using pod/{pods[0]['metadata']['name']}")
            pods = pods[:1]
    targets = []
    for pod in pods:
        if flags.all_containers:
            spec = pod["spec"]
            order = [
                *(spec.get("initContainers") or ()),
                *spec["containers"],
                *(spec.get("ephemeralContainers") or ()),
            ]
            targets += [(pod, container["name"]) for container in order]
        else:
            targets.append((pod, choose_container(context, pod, container, quiet=flags.all_pods)))
    return targets


def _named(context: Context) -> Info:
    try:
        return named(context, context.args[0], scheme=SCHEME)
    except ApiError as error:
        if not_found(error):
            raise CommandError(
                f'error from server (NotFound): {error.message} in namespace "{context.namespace}"'
            ) from None
        raise


def _print(
    context: Context, pod: Object, container: str, options: dict[str, Any], lock: threading.Lock | None = None
) -> None:
    """Print the logs of a container; who follows them waits for a container that does not run yet."""
    deadline = time.monotonic() + context.flags.pod_running_timeout
    while True:
        began = time.monotonic()
        try:
            print_logs(context, pod, container, options, lock)
            return
        except ApiError as error:
            if not context.flags.follow:
                raise
            context.warn(error.message)
        following = began + _RETRY_SECONDS
        if following >= deadline:
            time.sleep(max(0.0, deadline - time.monotonic()))
            raise CommandError("context deadline exceeded")
        time.sleep(max(0.0, following - time.monotonic()))


def print_logs(
    context: Context,
    pod: Object,
    container: str,
    options: dict[str, Any],
    lock: threading.Lock | None = None,
) -> None:
    """Print the logs of a container; ``lock`` keeps lines of several containers apart."""
    flags = context.flags
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    prefixed = flags.has("prefix") and (flags.prefix or flags.all_pods)
    prefix = f"[pod/{name}/{container}] ".encode() if prefixed else b""
    path = path_of(context.discovery.find("pods"), namespace, name, "log")
    connection = Connection(context.client.access, context.timeout)
    query = query_string({"container": container, **options})
    headers = context.client.headers({"Accept": "application/json, */*"})
    response = connection.send("GET", path + query, headers, None)
    if response.status >= 400:
        error = failure(response, "GET")
        if flags.has("ignore-errors") and flags.ignore_errors:
            context.out(f"error: {error.message}")
            return
        raise error
    connection.settimeout(None)
    rest = b""
    for piece in response.pieces():
        *lines, rest = (rest + piece).split(b"\n")
        if lines:
            _write(context, b"".join(prefix + line + b"\n" for line in lines), lock)
    if rest:
        _write(context, prefix + rest, lock)
    connection.close()


def _write(context: Context, data: bytes, lock: threading.Lock | None) -> None:
    with lock or nullcontext():
        context.write_bytes(data)


def _parallel(context: Context, targets: list[tuple[dict[str, Any], str]], options: dict[str, Any]) -> None:
    lock = threading.Lock()
    errors: list[CommandError] = []

    def work(pod: Object, name: str) -> None:
        try:
            _print(context, pod, name, options, lock)
        except CommandError as error:
            errors.append(error)

    _ = context.discovery.find("pods")
    threads = [threading.Thread(target=work, args=target, daemon=True) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
