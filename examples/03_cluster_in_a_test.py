"""An API server and an operator in one process: no socket, no root, no Docker, ready in a fraction of a second.

    python examples/03_cluster_in_a_test.py

This is what a test of an operator looks like. It runs the operator of 02_operator.py.
"""

import asyncio
import importlib.util
import tempfile
from pathlib import Path

from pybernetes.client import Client
from pybernetes.client.refs import CONFIG_MAPS, DEPLOYMENTS
from pybernetes.cmd.kube_apiserver import parser
from pybernetes.control_plane.apiserver.assembly import setup
from pybernetes.control_plane.apiserver.assembly.api_server import ApiServer
from pybernetes.control_plane.apiserver.authn.user import AUTHENTICATED, MASTERS, User
from pybernetes.control_plane.apiserver.inprocess.transport import InProcessTransport
from pybernetes.runtime import Informer, Manager

spec = importlib.util.spec_from_file_location("operator_example", Path(__file__).with_name("02_operator.py"))
assert spec is not None and spec.loader is not None
operator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(operator)


async def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        flags = [
            "--bind-address=127.0.0.1",
            "--secure-port=0",
            f"--cert-dir={directory}",
            "--storage-backend=memory",
        ]
        arguments = parser().parse_args(flags)
        settings = setup.settings(arguments)
        server = ApiServer(setup.store(arguments, settings), settings)
        await server.start()
        client = Client(
            InProcessTransport(server.http.application, User("admin", groups=(MASTERS, AUTHENTICATED)))
        )

        manager = Manager(client)
        manager.add(operator.SiteController)
        running = asyncio.create_task(manager.run())
        deployments = Informer(client, DEPLOYMENTS)
        made = asyncio.Event()
        deployments.add_handler(lambda old, new: made.set())
        following = asyncio.create_task(deployments.run())

        site = {"metadata": {"name": "hello", "namespace": "default", "labels": {operator.LABEL: "true"}}}
        await client.create(CONFIG_MAPS, {**site, "data": {"replicas": "3"}})
        await made.wait()
        for deployment in deployments:
            meta = deployment["metadata"]
            print(f"{meta['namespace']}/{meta['name']}: {deployment['spec']['replicas']} replicas")

        for task in (running, following):
            task.cancel()
        await asyncio.gather(running, following, return_exceptions=True)
        await server.stop()


if __name__ == "__main__":
    asyncio.run(main())
