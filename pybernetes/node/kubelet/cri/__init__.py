"""The container runtime: everything that is sent to it or read from it, in terms of CRI.

``client`` calls it, ``specs`` says what it is asked to make, ``pod_runtime`` is what it has of a pod.
"""

from pybernetes.lib.grpc.generated import bare_package

bare_package("cri_api")
