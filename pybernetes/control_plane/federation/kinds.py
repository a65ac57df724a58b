"""The kinds of a federation, and the names that its parts know one another by."""

from __future__ import annotations

from pybernetes.client.refs import Ref

CORE_GROUP = "core.kubefed.io"
SCHEDULING_GROUP = "scheduling.kubefed.io"
# The group and version of Federated<Kind> unless somebody asks for others.
TYPES_GROUP, TYPES_VERSION = "types.kubefed.io", "v1beta1"

KUBEFED_CLUSTERS = Ref(CORE_GROUP, "v1beta1", "kubefedclusters", "KubeFedCluster")
KUBEFED_CONFIGS = Ref(CORE_GROUP, "v1beta1", "kubefedconfigs", "KubeFedConfig")
FEDERATED_TYPE_CONFIGS = Ref(CORE_GROUP, "v1beta1", "federatedtypeconfigs", "FederatedTypeConfig")
PROPAGATED_VERSIONS = Ref(CORE_GROUP, "v1alpha1", "propagatedversions", "PropagatedVersion")
CLUSTER_PROPAGATED_VERSIONS = Ref(
    CORE_GROUP, "v1alpha1", "clusterpropagatedversions", "ClusterPropagatedVersion", False
)
REPLICA_SCHEDULING_PREFERENCES = Ref(
    SCHEDULING_GROUP, "v1alpha1", "replicaschedulingpreferences", "ReplicaSchedulingPreference"
)

# Where the control plane keeps its own objects, in the host and in every member.
NAMESPACE = "kube-federation-system"
CONFIG_NAME = "kubefed"
COMPONENT = "kubefed-controller-manager"

# Objects in members that belong to the federation have this label; with "false" somebody keeps theirs out of it.
MANAGED = "kubefed.io/managed"
# A federated object that goes away leaves what it made when it has this annotation.
ORPHAN = "kubefed.io/orphan"
# Has the options with which objects in members are deleted, as JSON.
DELETE_OPTION = "kubefed.io/deleteoption"
FINALIZER = "kubefed.io/sync-controller"
