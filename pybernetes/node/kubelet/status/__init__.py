"""What a pod is reported to be: a pure function of its definition, of what the runtime has and of what was said before."""

from pybernetes.node.kubelet.status.facts import ENDED, OWN_CONDITIONS, Facts, is_static
from pybernetes.node.kubelet.status.pod import pod_status

__all__ = ["ENDED", "OWN_CONDITIONS", "Facts", "is_static", "pod_status"]
