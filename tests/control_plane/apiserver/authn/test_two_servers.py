"""Two API servers on one etcd, with one key: a token of the one is good at the other, and ends at both."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from pybernetes.lib.tokens import jose
from tests.control_plane.store.etcd_server import etcd
from tests.servers import Server, running
from tests.support import require_program, until

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
TRUST = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"


def is_refused(server: Server, token: str) -> bool:
    return server.call("POST", REVIEW, {}, token=token)[0] == 401


@pytest.mark.e2e
def test_two_servers(tmp_path: Path) -> None:
    require_program("etcd")
    (tmp_path / "etcd").mkdir()
    (tmp_path / "sa.key").write_bytes(jose.new_private_key())
    with ExitStack() as stack:
        (member,) = stack.enter_context(etcd(tmp_path / "etcd"))

        def start(name: str) -> Server:
            (tmp_path / name).mkdir()
            key = f"--service-account-signing-key-file={tmp_path / 'sa.key'}"
            return stack.enter_context(running(tmp_path / name, f"--etcd-servers={member.address}", key))

        first, second = start("a"), start("b")
        for number in range(5):
            account = f"robot-{number}"
            assert first.call("POST", ACCOUNTS, {"metadata": {"name": account}})[0] == 201
            status, made = first.call("POST", f"{ACCOUNTS}/{account}/token", {})
            assert status == 201, made
            token = made["status"]["token"]
            # At once: a server that has not heard of the account yet asks etcd.
            status, answer = second.call("POST", REVIEW, {}, token=token)
            assert status == 201 and answer["status"]["userInfo"]["username"].endswith(account), answer
            assert first.call("DELETE", f"{ACCOUNTS}/{account}")[0] == 200
            assert first.call("POST", REVIEW, {}, token=token)[0] == 401
            until(partial(is_refused, second, token))  # the other server learns that the account is gone
        # Each server has an authority of its own; everyone is told about both.
        published = second.call("GET", TRUST)[1]["data"]["client-ca-file"]
        for server in (first, second):
            assert "".join(server.authority.read_text().split()) in "".join(published.split())
