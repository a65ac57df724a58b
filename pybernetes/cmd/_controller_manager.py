"""What the programs with many controllers share: flags, the choice of controllers, identities, and how they run."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from pybernetes.api import feature_gates
from pybernetes.cmd import _secure_serving
from pybernetes.cmd._leader_election import election, election_flags
from pybernetes.cmd._program import add_version, until_signal
from pybernetes.cmd._secure_serving import serving_flags
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag

if TYPE_CHECKING:
    from pybernetes.api.resource import Object
    from pybernetes.client.client import Client
    from pybernetes.client.kubeconfig import Config
    from pybernetes.runtime import Manager
    from pybernetes.runtime.controller_manager.descriptor import Descriptor

log = logging.getLogger(__name__)

GENERAL = (
    Flag("kubeconfig", "", "file that says where the API server is and who this is"),
    Flag("master", "", "address of the API server, instead of the one in the kubeconfig"),
    Flag("controllers", ("*",), "which to run: '*' is all that are on by default, 'foo' turns one on, '-foo' off"),
    Flag("use-service-account-credentials", False, "each controller acts as a service account of its own"),
    Flag("kube-api-qps", 0.0, "how many calls a second the API server is asked; 0 is no limit"),
    Flag("kube-api-burst", 0, "how many calls may go at once while the limit allows"),
    feature_gates.FLAG,
    Flag("kube-api-content-type", "", "content type of requests to the API server; only application/json is spoken"),
)  # fmt: skip


def parser(
    name: str, summary: str, port: int, descriptors: Mapping[str, Descriptor], more: tuple[Flag, ...] = ()
) -> argparse.ArgumentParser:
    """Return the parser of a command line, with upstream's names and, except for the rate of calls, its defaults."""
    from pybernetes.runtime.controller_manager import selection

    result = argparse.ArgumentParser(prog=name, description=summary, allow_abbrev=False)
    taken: set[str] = set()
    groups = {
        "general": (*GENERAL, *more),
        "serving": serving_flags(port),
        "leader election": election_flags(name),
        "controllers": selection.flags(descriptors),
    }
    for title, group in groups.items():
        flags.add(result.add_argument_group(title), [flag for flag in group if flag.name not in taken])
        taken |= {flag.name for flag in group}
    result.add_argument("-v", "--v", type=int, default=0, help="how much to log")
    add_version(result)
    on = ", ".join(sorted(name for name, descriptor in descriptors.items() if descriptor.enabled))
    off = ", ".join(sorted(name for name, descriptor in descriptors.items() if not descriptor.enabled))
    result.epilog = f"Controllers: {on}. Off by default: {off or 'none'}."
    return result


def check(arguments: argparse.Namespace) -> None:
    """Raise ValueError for what cannot be."""
    _secure_serving.check(arguments)
    if arguments.leader_elect_resource_lock != "leases":
        raise ValueError(
            f'--leader-elect-resource-lock: "{arguments.leader_elect_resource_lock}" is not supported'
        )
    feature_gates.from_flag(arguments.feature_gates, feature_gates.HONOURED["kube-controller-manager"])
    if arguments.kube_api_content_type not in ("", "application/json"):
        log.warning(
            "--kube-api-content-type=%s changes nothing here: JSON is spoken", arguments.kube_api_content_type
        )


async def serve(
    name: str,
    arguments: argparse.Namespace,
    descriptors: Mapping[str, Descriptor],
    prepare: Callable[[Config, Manager], None],
    select: Callable[[Sequence[str], Mapping[str, Descriptor]], list[Descriptor]] | None = None,
    configz: Mapping[str, Object] = MappingProxyType({}),
) -> int:
    """Run controllers until told to stop, or until the lease is lost; ``prepare`` comes before they are built.

    ``select`` chooses them by names, for programs that know more names than controllers; ``configz`` is what that page has.
    """
    from pybernetes.client import kubeconfig
    from pybernetes.runtime import LostLease, Manager
    from pybernetes.runtime.controller_manager import selection
    from pybernetes.runtime.controller_manager.service_account import client_of

    settings = kubeconfig.load(arguments.kubeconfig or None)
    if arguments.master:
        settings.server = arguments.master
    chosen = (select or selection.select)(arguments.controllers, descriptors)
    client = settings.client(user_agent=name, qps=arguments.kube_api_qps, burst=arguments.kube_api_burst)
    # A lease must not wait behind the calls of busy controllers, nor be limited with them.
    lease_client = settings.client(user_agent=name)
    manager = Manager(client, election=election(arguments, name), election_client=lease_client)
    clients = [client, lease_client]

    def client_for(identity: str) -> Client:
        clients.append(client_of(client, settings, identity, program=name))
        manager.guard(clients[-1])
        return clients[-1]

    prepare(settings, manager)
    own = client_for if arguments.use_service_account_credentials else None
    selection.add_all(manager, chosen, arguments, own)
    if arguments.secure_port:
        port = await _secure_serving.serve(manager, arguments, name, arguments.kubeconfig, configz)
        print(f"{name} is serving on https://{arguments.bind_address}:{port}", flush=True)
    try:
        await until_signal(manager.run())  # in the end the lease is given back
        return 0
    except LostLease as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    finally:
        await manager.stop_serving()
        for used in clients:
            await used.close()
