"""What a joining machine believes of a server that it does not trust yet."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.control_plane.controllers._tokens.bootstrap import detached_signature
from pybernetes.lib.tokens import jose
from pybernetes.tools.kubeadm import discovery
from pybernetes.tools.kubeadm.errors import KubeadmError


def test_cluster_info_is_believed_with_the_right_token_only() -> None:
    signature = detached_signature("content", "abcdef", "0123456789abcdef")
    valid = discovery.signature_is_valid
    assert valid(signature, "content", "abcdef", "0123456789abcdef")
    assert not valid(signature, "other", "abcdef", "0123456789abcdef")
    assert not valid(signature, "content", "abcdef", "0000000000000000")
    assert not valid(signature, "content", "zzzzzz", "0123456789abcdef")
    none = signature.replace(signature.partition("..")[0], "eyJhbGciOiJub25lIiwia2lkIjoiYWJjZGVmIn0")
    deep = jose.encode(b"[" * 100_000)
    for wrong in ("", "..", "a..b", "é..", none, f"{deep}..x"):
        assert not valid(wrong, "content", "abcdef", "0123456789abcdef")


@pytest.mark.parametrize("answer", [None, [], "x", {}, {"data": ["a"]}, {"data": {"a": 1, "kubeconfig": {}}}])
def test_what_a_server_that_nobody_trusts_yet_may_say(answer: Any) -> None:
    assert discovery.texts(answer) == {}
    assert discovery.texts({"data": {"a": "b", "c": 1}}) == {"a": "b"}


def test_hashes_of_authorities() -> None:
    assert discovery._pins(["SHA256:" + "Ab" * 32]) == {"sha256:" + "ab" * 32}
    for wrong in ("ab", "md5:ab", "sha256:zz", "sha256:abcd"):
        with pytest.raises(KubeadmError, match="invalid discovery token CA certificate hash"):
            discovery._pins([wrong])


@pytest.mark.parametrize(
    "config",
    [{}, {"clusters": "abc"}, {"clusters": {"a": 1}}, {"clusters": [1]}, {"clusters": [{"cluster": []}]}],
)
def test_kubeconfigs_that_name_no_cluster(config: dict[str, Any]) -> None:
    with pytest.raises(KubeadmError, match="names no cluster"):
        discovery.cluster_of(config)
