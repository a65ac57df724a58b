"""Two API servers on one etcd: they make the default roles at once, and what one grants the other knows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.control_plane.store.etcd_server import etcd
from tests.servers import TOKEN, Server, running
from tests.support import require_program, until

RBAC = "/apis/rbac.authorization.k8s.io/v1"


def start(stack: ExitStack, directory: Path, address: str) -> Server:
    directory.mkdir()
    tokens = directory / "users.csv"
    tokens.write_text(f'{TOKEN},admin,admin,"system:masters"\nann,ann,u1,"dev"\n')
    return stack.enter_context(running(directory, f"--etcd-servers={address}", f"--token-auth-file={tokens}"))


@pytest.mark.e2e
def test_two_servers(tmp_path: Path) -> None:
    require_program("etcd")
    (tmp_path / "etcd").mkdir()
    with ExitStack() as stack:
        (member,) = stack.enter_context(etcd(tmp_path / "etcd"))
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(lambda name: start(stack, tmp_path / name, member.address), ("a", "b"))
        for plural, count in (("clusterroles", 73), ("clusterrolebindings", 54)):
            status, answer = second.call("GET", f"{RBAC}/{plural}")
            assert status == 200 and len(answer["items"]) == count
        assert "rbac/bootstrap-roles ok" in first.call("GET", "/readyz", query={"verbose": ""})[1]
        binding = {
            "metadata": {"name": "ann"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "User", "name": "ann"}],
        }
        assert second.call("GET", "/api/v1/pods", token="ann")[0] == 403
        assert first.call("POST", f"{RBAC}/clusterrolebindings", binding)[0] == 201
        # The other server learns of the binding.
        until(lambda: second.call("GET", "/api/v1/pods", token="ann")[0] == 200)
