"""The names of all controllers, which people write on command lines."""

from pybernetes.control_plane.controllers._controller_manager import manager

# Name, aliases, and whether it runs unless it is asked for.
NAMES = {
    "bootstrap-signer-controller": (("bootstrapsigner",), False),
    "certificatesigningrequest-approving-controller": (("csrapproving",), True),
    "certificatesigningrequest-cleaner-controller": (("csrcleaner",), True),
    "certificatesigningrequest-signing-controller": (("csrsigning",), True),
    "clusterrole-aggregation-controller": (("clusterrole-aggregation",), True),
    "cronjob-controller": (("cronjob",), True),
    "daemonset-controller": (("daemonset",), True),
    "deployment-controller": (("deployment",), True),
    "disruption-controller": (("disruption",), True),
    "endpoints-controller": (("endpoint",), True),
    "endpointslice-controller": (("endpointslice",), True),
    "endpointslice-mirroring-controller": (("endpointslicemirroring",), True),
    "ephemeral-volume-controller": (("ephemeral-volume",), True),
    "garbage-collector-controller": (("garbagecollector",), True),
    "job-controller": (("job",), True),
    "kube-apiserver-serving-clustertrustbundle-publisher-controller": ((), True),
    "legacy-serviceaccount-token-cleaner-controller": (("legacy-service-account-token-cleaner",), True),
    "namespace-controller": (("namespace",), True),
    "node-ipam-controller": (("nodeipam",), True),
    "node-lifecycle-controller": (("nodelifecycle",), True),
    "persistentvolume-binder-controller": (("persistentvolume-binder",), True),
    "persistentvolume-protection-controller": (("pv-protection",), True),
    "persistentvolumeclaim-protection-controller": (("pvc-protection",), True),
    "pod-garbage-collector-controller": (("podgc",), True),
    "podcertificaterequest-cleaner-controller": ((), True),
    "replicaset-controller": (("replicaset",), True),
    "replicationcontroller-controller": (("replicationcontroller",), True),
    "resourcequota-controller": (("resourcequota",), True),
    "root-ca-certificate-publisher-controller": (("root-ca-cert-publisher",), True),
    "service-cidr-controller": ((), True),
    "serviceaccount-controller": (("serviceaccount",), True),
    "serviceaccount-token-controller": (("serviceaccount-token",), True),
    "statefulset-controller": (("statefulset",), True),
    "storage-version-migrator-controller": ((), True),
    "taint-eviction-controller": ((), True),
    "token-cleaner-controller": (("tokencleaner",), False),
    "ttl-after-finished-controller": (("ttl-after-finished",), True),
    "ttl-controller": (("ttl",), True),
    "validatingadmissionpolicy-status-controller": ((), True),
    "volumeattributesclass-protection-controller": ((), True),
}


def test_every_controller_has_the_names_of_upstream() -> None:
    names = {
        name: (descriptor.aliases, descriptor.enabled) for name, descriptor in manager.descriptors().items()
    }
    assert names == NAMES


def test_flags_agree() -> None:
    flags = [flag.name for flag in manager.flags(manager.descriptors())]
    assert len(flags) == len(set(flags))
    assert {"concurrent-gc-syncs", "node-monitor-grace-period", "terminated-pod-gc-threshold"} <= set(flags)
