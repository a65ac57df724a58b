"""The kinds and labels of the multi-cluster services API, and those that tell what is ours."""

from __future__ import annotations

from pybernetes.client.refs import Ref

GROUP = "multicluster.x-k8s.io"
SERVICE_EXPORTS = Ref(GROUP, "v1alpha1", "serviceexports", "ServiceExport")
SERVICE_IMPORTS = Ref(GROUP, "v1alpha1", "serviceimports", "ServiceImport")
# Of slices: the service that they belong to, and the cluster that their endpoints are in.
SERVICE_NAME = "multicluster.kubernetes.io/service-name"
SOURCE_CLUSTER = "multicluster.kubernetes.io/source-cluster"
# Of an import: the service of its own cluster that carries its addresses.
DERIVED_SERVICE = "multicluster.kubernetes.io/derived-service"
# Of a cluster's own slices.
LOCAL_SERVICE = "kubernetes.io/service-name"
MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
MANAGER = "multicluster.kubefed-controller-manager"
# Of all that is made here: nothing else is changed or deleted.
OURS = "federation.pybernetes.io/multicluster"
