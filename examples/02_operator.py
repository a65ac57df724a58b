"""An operator: for each ConfigMap with the label example.com/site it keeps a Deployment and a Service.

    python examples/02_operator.py [--kubeconfig FILE]

    kubectl create configmap hello --from-literal=replicas=2 --from-literal=image=example/web:1
    kubectl label configmap hello example.com/site=true
    kubectl get deployment,service hello

Delete or change what it made and it is put back. Delete the ConfigMap and the garbage collector removes the rest.
"""

import argparse
import asyncio
from typing import Any

from pybernetes.client.kubeconfig import load
from pybernetes.client.refs import CONFIG_MAPS, DEPLOYMENTS, SERVICES
from pybernetes.lib import logs
from pybernetes.runtime import Controller, Election, Manager, Runtime, split_key
from pybernetes.runtime.owned_objects import owner_reference

Object = dict[str, Any]
LABEL = "example.com/site"
MANAGER = "site-operator"


def wanted(site: Object) -> tuple[Object, Object]:
    """Return the Deployment and the Service of a site: a pure function, easy to test."""
    meta = site["metadata"]
    data = site.get("data", {})
    name, labels = meta["name"], {"app": meta["name"]}
    common = {
        "name": name,
        "namespace": meta["namespace"],
        "ownerReferences": [owner_reference(site, CONFIG_MAPS)],
    }
    container = {"name": "web", "image": data.get("image", "nginx"), "ports": [{"containerPort": 80}]}
    deployment = {
        "metadata": common,
        "spec": {
            "replicas": int(data.get("replicas", "1")),
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    service = {"metadata": common, "spec": {"selector": labels, "ports": [{"port": 80}]}}
    return deployment, service


class SiteController(Controller):
    """Reconciles one site at a time."""

    name = "site"
    kind = CONFIG_MAPS
    owns = (DEPLOYMENTS, SERVICES)

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self.recorder = runtime.recorder("site-operator")

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return any(LABEL in (obj["metadata"].get("labels") or {}) for obj in (old, new) if obj)

    async def reconcile(self, key: str) -> float | None:
        site = self.objects.get(key)
        if site is None or LABEL not in (site["metadata"].get("labels") or {}):
            return None
        namespace, name = split_key(key)
        created = self.cache(DEPLOYMENTS).get(key) is None
        deployment, service = wanted(site)
        await self.client.apply(DEPLOYMENTS, deployment, manager=MANAGER, force=True)
        await self.client.apply(SERVICES, service, manager=MANAGER, force=True)
        if created:
            self.recorder.normal(site, "Created", f"made the Deployment and the Service {namespace}/{name}")
        return None


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", default="")
    arguments = parser.parse_args()
    logs.set_up()
    async with load(arguments.kubeconfig).client(user_agent="site-operator") as client:
        # With an election a second copy of this program waits until the first is gone.
        manager = Manager(client, election=Election("site-operator", namespace="default"))
        manager.add(SiteController)
        port = await manager.serve()
        print(f"health and metrics: http://127.0.0.1:{port}", flush=True)
        await manager.run()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
