"""What a pod is reported to be: a pure function of its definition, of what the runtime has and of what was said before."""

from pybernetes.node.kubelet.status.pod_status import pod_status
from pybernetes.node.kubelet.status.status_inputs import ENDED, OWN_CONDITIONS, StatusInputs, is_static

__all__ = ["ENDED", "OWN_CONDITIONS", "StatusInputs", "is_static", "pod_status"]
