"""cloud-controller-manager: the loops that join a cluster and the cloud that it runs in."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from pybernetes.cmd import _controller_manager
from pybernetes.cmd._program import run
from pybernetes.lib.flags import LOG_FLAGS, SERVING_FLAGS, Flag, add_ignored, warn_ignored

if TYPE_CHECKING:
    from pybernetes.client.kubeconfig import Config
    from pybernetes.control_plane.cloud.provider import CloudProvider, Factory
    from pybernetes.runtime import Manager

SUMMARY = "Run the loops that join a cluster and its cloud"
_NAME, _PORT = "cloud-controller-manager", 10258
_MORE = (
    Flag("cloud-provider", "", "the cloud; must not be empty"),
    Flag("cloud-config", "", "file with the provider's own configuration"),
    Flag("allocate-node-cidrs", False, "nodes have ranges of --cluster-cidr, which kube-controller-manager gives them"),
)  # fmt: skip
# Flags of upstream's command line that mean nothing here, and why.
_IGNORED = {
    **{name: reason for name, reason in (LOG_FLAGS | SERVING_FLAGS).items()
       if name not in ("logging-format", "logtostderr", "disable-http2-serving")},
    "allow-untagged-cloud": "no provider here asks for tags of the cluster",
    "cidr-allocator-type": "kube-controller-manager gives nodes their ranges",
    "controller-start-interval": "controllers start together",
    "external-cloud-volume-plugin": "volumes of clouds are drivers of their own",
    "min-resync-period": "watches that end go on where they were: nothing is listed again for the sake of it",
    "node-sync-period": "upstream does nothing with it either",
}  # fmt: skip


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    from pybernetes.control_plane.cloud import registry

    result = _controller_manager.parser(_NAME, SUMMARY, _PORT, registry.descriptors(), _MORE)
    result.epilog = f"{result.epilog} Cloud providers: {', '.join(registry.provider_names(_wired()))}."
    add_ignored(result, _IGNORED)
    return result


def _wired() -> dict[str, Factory]:
    """Return the providers that need parts from outside of the cloud controller manager."""

    def local(text: str) -> CloudProvider:
        from pybernetes.tools.local import cloud

        return cloud.make(text)

    return {"local": local}


def main(argv: list[str]) -> int:
    """Run the loops until told to stop, or until the lease is lost."""
    arguments = parser().parse_args(argv)
    from pybernetes.control_plane.cloud import registry
    from pybernetes.control_plane.cloud.calls import CloudCalls
    from pybernetes.lib import logs

    logs.set_up(arguments.v)
    warn_ignored(arguments, _IGNORED)
    try:
        _controller_manager.check(arguments)
        if not arguments.cloud_provider:
            raise ValueError("--cloud-provider cannot be empty")
        if arguments.allocate_node_cidrs and not arguments.cluster_cidr:
            raise ValueError("--allocate-node-cidrs requires --cluster-cidr")
        arguments.cloud = registry.provider(arguments.cloud_provider, arguments.cloud_config, _wired())
        arguments.cloud_calls = CloudCalls()
    except ValueError as error:
        print(f"{_NAME}: {error}", file=sys.stderr)
        return 1
    return run(_NAME, _run(arguments), RuntimeError)


async def _run(arguments: argparse.Namespace) -> int:
    from pybernetes.control_plane.cloud import registry

    def prepare(settings: Config, manager: Manager) -> None:
        manager.metrics.more.append(arguments.cloud_calls.write)
        manager.add_task(arguments.cloud.name, arguments.cloud.run)

    return await _controller_manager.serve(_NAME, arguments, registry.descriptors(), prepare)
