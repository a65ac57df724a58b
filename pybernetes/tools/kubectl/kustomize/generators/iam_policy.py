"""IAMPolicyGenerator: makes the ServiceAccount that stands for one of a cloud."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.errors import BuildError
from pybernetes.tools.kubectl.kustomize.resource import Resource
from pybernetes.tools.kubectl.kustomize.yaml_nodes.values import from_value

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.tools.kubectl.kustomize.plugins import Plugin


class Generator:
    """Makes a ServiceAccount."""

    def __init__(self, config: dict[str, Any], plugin: Plugin) -> None:
        self.config = config

    def generate(self) -> list[Resource]:
        """Return it."""
        if self.config.get("cloud") != "gke":
            raise BuildError(f"cloud provider {self.config.get('cloud', '')} not supported yet")
        account = self.config.get("serviceAccount") or {}
        service = self.config.get("kubernetesService") or {}
        address = f"{account.get('name', '')}@{account.get('projectId', '')}.iam.gserviceaccount.com"
        metadata: dict[str, Any] = {
            "annotations": {"iam.gke.io/gcp-service-account": address},
            "name": service.get("name", ""),
        }
        if service.get("namespace"):
            metadata["namespace"] = service["namespace"]
        return [Resource(from_value({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}))]
