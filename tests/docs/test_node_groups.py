"""The example of node groups does what its page says, command by command."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path

from tests.support import require_program
from tests.tools.local.user import User

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "examples" / "node-groups" / "README.md"


def test_every_pod_is_in_its_group(tmp_path: Path) -> None:
    require_program("kubectl")
    block = re.search(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block is not None
    user = User(tmp_path)
    cluster = f"groups-{os.getpid()}"  # the page's name could be one that somebody has
    try:
        for line in block.group(1).splitlines():
            program, *arguments = line.split()
            arguments = [str(ROOT / word) if word.startswith("docs/") else word for word in arguments]
            arguments = [cluster if word == "groups" else word for word in arguments]
            if program == "./pyb" and arguments[0] == "up":
                user.pyb(*arguments)
                user.until("hollow-5", "get", "nodes")
            elif program == "kubectl" and arguments[0] != "get":
                user.kubectl(*arguments)
        for name in ("deployment/gateway", "deployment/shop", "deployment/mesh-control", "sts/prometheus"):
            user.kubectl("rollout", "status", name, "--timeout=60s")
        user.kubectl("wait", "--for=condition=complete", "job/report", "--timeout=60s")
        pods = json.loads(user.kubectl("get", "pods", "-o", "json"))["items"]
        placed = Counter((pod["metadata"]["labels"]["app"], pod["spec"]["nodeName"]) for pod in pods)
        assert placed == {
            ("gateway", "hollow-0"): 2,
            ("report", "hollow-1"): 2,
            ("prometheus", "hollow-2"): 1,
            ("mesh-control", "hollow-3"): 1,
            ("shop", "hollow-4"): 2,
            ("shop", "hollow-5"): 2,
        }
        user.kubectl("scale", "deployment/gateway", "--replicas=200")
        user.until("Insufficient", "get", "events", "--field-selector=reason=FailedScheduling")
    finally:
        user.pyb("delete", cluster)
