"""Why an autoscaler does what it does."""

from pybernetes.tools.why.kinds import (
    horizontalpodautoscaler,
)
from tests.tools.why.worlds import causes, is_true, obj, world


def test_an_autoscaler() -> None:
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "minReplicas": 1, "maxReplicas": 3,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}}],
    }  # fmt: skip
    current = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 90}}}]
    conditions = [is_true("ScalingActive", "False", reason="FailedGetResourceMetric"), is_true("ScalingLimited", reason="TooManyReplicas")]  # fmt: skip
    status = {"currentReplicas": 3, "desiredReplicas": 3, "currentMetrics": current, "conditions": conditions}
    around = world(events={"SuccessfulRescale": "New size: 3; reason: cpu resource utilization above target"})
    state, findings = horizontalpodautoscaler.WHY.decide(obj("auto", spec=spec, status=status), around)
    assert state == "3 pods, 3 wanted"
    assert [title[:20] for title in causes(findings)] == ["It does not know how", "Its limits (1 to 3 p"]
    assert findings[-1].details == ["cpu: 90 %, wanted 50 %"]
    assert findings[-2].details == ["New size: 3; reason: cpu resource utilization above target"]
    assert findings[0].links[0].group == "apps"
