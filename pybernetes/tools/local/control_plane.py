"""The control plane in one process: API server, controllers, scheduler, hollow nodes, joined without sockets."""

from __future__ import annotations

import asyncio
import logging
from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pybernetes import KUBERNETES_VERSION
from pybernetes.api.current_time import timestamp
from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.control_plane.apiserver.assembly import setup
from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, MASTERS, User
from pybernetes.control_plane.apiserver.inprocess.transport import InProcessTransport
from pybernetes.control_plane.apiserver.proxy.egress_selector import CLUSTER
from pybernetes.control_plane.cloud.local.local_cloud import LocalCloud
from pybernetes.control_plane.controllers._controller_manager import configz, registry
from pybernetes.lib import flags
from pybernetes.lib.flags import Flag
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.node.provisioner import provisioner
from pybernetes.runtime import Manager, secure_serving
from pybernetes.tools.local import cloud
from pybernetes.tools.local.addons import addons, autoscaler, cluster_network_policy, dns, gateway, metrics
from pybernetes.tools.local.addons.dns import DnsSettings
from pybernetes.tools.local.addons.metrics import MetricsSettings
from pybernetes.tools.local.addons.system_pods import Part, SystemPods, pod_name
from pybernetes.tools.local.hollow import hollow_kubelet, hollow_server
from pybernetes.tools.local.hollow.usage import HollowUsage
from pybernetes.tools.local.host_client import HostClient
from pybernetes.tools.local.nodes.serving_approval import SERVING_USER, ServingApproval
from pybernetes.tools.local.processes import CONTROL_PLANE

log = logging.getLogger(__name__)
_RESTART_SECONDS = 1.0
# Parts that only a local cluster has: no pod of kube-system shows them.
_ADDRESSED = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "store")
_UNSHOWN = ("addons", "hollow-nodes", "serving-approval", "system-pods")


def _user(name: str, *groups: str) -> User:
    return User(name, groups=(*groups, AUTHENTICATED))


@dataclass
class ControlPlane:
    """Everything that one process of a local cluster runs. ``apiserver`` and the next two are parsed flags."""

    apiserver: Namespace
    controllers: Namespace
    scheduler: Namespace | None = None  # None shows nothing of it on a port
    hollow: int = 0
    first_node: str = ""  # the node that the parts of this process are shown on; empty shows none
    volumes: Path | None = None  # where claims get their folders; None gives them none
    node_parts: tuple[str, ...] = ()  # what runs on every node with real containers
    cluster_network_policy: bool = False  # whether the kind is served
    gateway: bool = False  # whether the kinds and classes of the gateway are served
    provisioning_requests: bool = False  # whether the autoscaler looks after them
    runtimes: tuple[str, ...] = ()  # programs beside runc that nodes run containers with
    # The flags that a part is shown with, by its name and that of its node.
    flags_of: Callable[[str, str], tuple[str, ...]] = lambda part, node: ()
    cloud: LocalCloud | None = None  # what the nodes are instances of; None if they only pretend
    cluster_name: str = ""
    dns_settings: DnsSettings | None = None  # where kube-dns answers; None runs none
    host: HostClient | None = None  # does on the host what this process may not; None if it may do everything
    dialer: Dialer = direct  # how pods and services are reached, which are not in this network namespace
    metrics: MetricsSettings | None = None  # what metrics-server needs; None runs none
    hollow_usage: HollowUsage = field(default_factory=HollowUsage)  # what pods on hollow nodes use
    server: ApiServer = field(init=False)
    _hollow_client: Client = field(init=False)
    _hollow_addresses: set[str] = field(default_factory=set)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _clients: list[Client] = field(default_factory=list)
    _restarts: dict[str, int] = field(default_factory=dict)  # of those
    _parts: dict[str, str] = field(default_factory=dict)  # what runs here, and since when

    async def start(self) -> None:
        """Start the API server, then everything that needs it."""
        settings = setup.settings(self.apiserver)
        if settings.egress.proxied(CLUSTER) is None:
            settings.nodes.dialer = self.dialer
        if self.scheduler is not None:
            settings.nodes.components = self.scheduler.bind_address
        answers = hollow_server.server(lambda: self._hollow_client, self.hollow_usage)
        kubelets = hollow_server.HollowDialer(settings.nodes.kubelets, answers, self._hollow_addresses)
        settings.nodes.kubelets = kubelets
        self.server = ApiServer(setup.store(self.apiserver, settings), settings)
        await self.server.start()
        self._parts = {"store": timestamp(), "kube-apiserver": timestamp()}
        self._supervise("kube-controller-manager", self._controllers)
        self._supervise("kube-scheduler", self._scheduler)
        self._supervise("addons", self._addons)
        self._supervise("hollow-nodes", self._hollow)
        if self.volumes is not None:
            self._supervise("storage-provisioner", self._storage)
        if self.dns_settings is not None:
            self._supervise("kube-dns", self._dns)
        if self.metrics is not None:
            self._supervise("metrics-server", self._metrics_server)
        if self.cloud is not None:
            self._supervise("cloud-controller-manager", self._cloud)
        if self.host is not None:
            self._supervise("serving-approval", self._serving_approval)
        if self.first_node:
            self._supervise("system-pods", self._system_pods)

    def client(self, name: str, *groups: str, agent_name: str = "") -> Client:
        """Return a client in this process, with the identity of a user."""
        application = self.server.http.application
        client = Client(InProcessTransport(application, _user(name, *groups)), user_agent=agent_name or name)
        self._clients.append(client)
        return client

    async def _controllers(self) -> None:
        client = self.client("system:kube-controller-manager", agent_name="kube-controller-manager")
        manager = Manager(client)
        chosen = registry.select(self.controllers.controllers, registry.descriptors())

        def own(identity: str) -> Client:
            groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system")
            return self.client(
                f"system:serviceaccount:kube-system:{identity}", *groups, agent_name="kube-controller-manager"
            )

        registry.add_all(manager, chosen, self.controllers, own)
        await self._run_serving(
            manager, self.controllers, "kube-controller-manager", client,
            {configz.NAME: configz.configuration(self.controllers)},
        )  # fmt: skip

    async def _run_serving(
        self, manager: Manager, options: Namespace, name: str, client: Client, shown: Mapping[str, Object]
    ) -> None:
        """Run a manager and show its health and metrics meanwhile, where its flags say."""
        try:
            if options.secure_port:
                await secure_serving.serve(manager, options, name, client, configz=shown)
        except OSError as error:  # its work is worth more than its pages
            log.error("%s is not seen at %s:%s: %s", name, options.bind_address, options.secure_port, error)
        try:
            await manager.run()
        finally:
            await manager.stop_serving()

    async def _scheduler(self) -> None:
        # Here and not above: numpy takes a while to import, and the API server need not wait for it.
        from pybernetes.control_plane.scheduler.scheduler import Scheduler
        from pybernetes.scheduling import config, configz

        client = self.client("system:kube-scheduler", agent_name="kube-scheduler")
        scheduler = Scheduler(client)
        if self.scheduler is None:
            return await scheduler.run()
        manager = Manager(client)
        manager.add_task("scheduler", scheduler.run)
        scheduler.show_on(manager)
        manager.ready.add("informer-sync", scheduler.check)
        shown = {configz.NAME: configz.configuration(config.Configuration(leader_elect=False))}
        await self._run_serving(manager, self.scheduler, "kube-scheduler", client, shown)

    async def _addons(self) -> None:
        objects = [
            *addons.kubelet_access(),
            *addons.pod_network(),
            *addons.certificate_renewal(),
            *addons.serving_approval(SERVING_USER),
            *addons.runtime_classes(self.runtimes),
            *(cluster_network_policy.definition() if self.cluster_network_policy else ()),
            *addons.cloud_access(cloud.USER),
            *autoscaler.access(self.provisioning_requests),
        ]
        client = self.client("pybernetes-addons", MASTERS)
        await addons.apply(client, objects)
        if self.gateway:
            await gateway.install(client)
        await asyncio.get_running_loop().create_future()  # done for as long as this process lives

    async def _cloud(self) -> None:
        from pybernetes.control_plane.cloud import registry as clouds
        from pybernetes.control_plane.cloud.calls import CloudCalls

        assert self.cloud is not None
        manager = Manager(self.client(cloud.USER, agent_name="cloud-controller-manager"))
        descriptors = clouds.descriptors()
        calls = CloudCalls()
        options = flags.defaults(
            [*registry.flags(descriptors), Flag("cloud", None), Flag("cloud-calls", None)],
            cloud=self.cloud, cloud_calls=calls, cluster_name=self.cluster_name,
            cluster_cidr=self.controllers.cluster_cidr, configure_cloud_routes=self.cloud.routes is not None,
        )  # fmt: skip
        registry.add_all(manager, list(descriptors.values()), options)
        manager.add_task(self.cloud.name, self.cloud.run)
        await manager.run()

    async def _dns(self) -> None:
        assert self.dns_settings is not None
        groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system")
        client = self.client(dns.ACCOUNT, *groups, agent_name="kube-dns")
        settings = replace(self.dns_settings, dialer=self.dialer)
        if self.first_node:
            settings = replace(settings, pod=pod_name("kube-dns", self.first_node))
        await dns.run(client, self.client("pybernetes-addons", MASTERS), settings)

    async def _storage(self) -> None:
        assert self.volumes is not None
        # All nodes are on this machine, so one provisioner serves them; no default role is made for it.
        client = self.client("storage-provisioner", MASTERS)
        await provisioner.ensure_class(client)
        await provisioner.provision(client, self.volumes, folders=self.host)

    async def _metrics_server(self) -> None:
        assert self.metrics is not None
        groups = ("system:serviceaccounts", "system:serviceaccounts:kube-system")
        client = self.client(metrics.ACCOUNT, *groups, agent_name="metrics-server")
        settings = replace(self.metrics, kubelets=self.server.context.nodes.kubelets)
        await metrics.run(client, self.client("pybernetes-addons", MASTERS), settings)

    async def _hollow(self) -> None:
        names = [f"hollow-{number}" for number in range(self.hollow)]
        # They pretend to be all nodes at once, which no single node's identity allows.
        self._hollow_client = self.client("hollow-nodes", MASTERS)
        await hollow_kubelet.run(
            self._hollow_client,
            names,
            version=KUBERNETES_VERSION,
            takes_over=True,
            addresses=self._hollow_addresses,
            usage=self.hollow_usage,
        )

    async def _serving_approval(self) -> None:
        host = self.host
        assert host is not None

        async def addresses_of(name: str) -> Sequence[str]:
            return ((await host.instance(name)) or {}).get("addresses") or ()

        manager = Manager(self.client(SERVING_USER, agent_name="serving-approval"))
        manager.add(ServingApproval(manager.runtime, addresses_of))
        await manager.run()

    async def _system_pods(self) -> None:
        # No default role may show pods on all nodes.
        manager = Manager(self.client("system-pods", MASTERS))
        since = timestamp()

        async def of_node(name: str) -> dict[str, Part]:
            shown: dict[str, Part] = {}
            if name == self.first_node:
                _, restarts = await self._process(CONTROL_PLANE, since)
                for part, began in self._parts.items():
                    if part not in _UNSHOWN:
                        address = settings.components if part in _ADDRESSED else ""
                        if part == "kube-dns" and self.dns_settings is not None:
                            address = self.dns_settings.address
                        again = restarts + self._restarts.get(part, 0)
                        shown[part] = Part(began, self.flags_of(part, name), address, again)
            if self.node_parts and not name.startswith("hollow-"):
                began, restarts = await self._process(f"node-{name}", since)
                for part in self.node_parts:
                    shown[part] = Part(began, self.flags_of(part, name), restarts=restarts)
            return shown

        settings = self.server.context.nodes

        manager.add(SystemPods(manager.runtime, of_node))
        await manager.run()

    async def _process(self, name: str, since: str) -> tuple[str, int]:
        """Return since when a process of the cluster runs, and how often it was started again, as its supervisor says."""
        try:
            known = await self.host.process(name) if self.host is not None else None
        except OSError as error:
            log.warning("what is known of %s cannot be asked for: %s", name, error)
            known = None
        return (known["started"], int(known["restarts"])) if known else (since, 0)

    def _supervise(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run a part of the process; one that fails is started again."""

        async def forever() -> None:
            while True:
                self._parts[name] = timestamp()
                try:
                    await run()
                except asyncio.CancelledError:
                    raise
                except BaseException:
                    log.exception("%s ended and is started again", name)
                self._restarts[name] = self._restarts.get(name, 0) + 1
                await asyncio.sleep(_RESTART_SECONDS)

        self._tasks.append(asyncio.create_task(forever(), name=name))

    async def stop(self) -> None:
        """Stop everything, the API server last."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.server.stop()
