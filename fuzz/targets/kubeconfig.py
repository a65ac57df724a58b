"""Kubeconfig files: a configuration, or ConfigError."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from fuzz.engine.target import Target
from pybernetes.client import kubeconfig
from pybernetes.client.kubeconfig_files import ConfigError

_FOLDER = tempfile.TemporaryDirectory(prefix="pyb-fuzz-")
_FILE = Path(_FOLDER.name, "config")


def run(data: bytes) -> None:
    """Load the file as a program would."""
    _FILE.write_bytes(data)
    os.environ.pop("KUBERNETES_SERVICE_HOST", None)
    kubeconfig.load(_FILE)


TARGET = Target(
    run,
    (ConfigError,),
    seeds=(
        b"apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster:\n    server: https://127.0.0.1:6443\n"
        b"    certificate-authority-data: aGVsbG8=\nusers:\n- name: a\n  user:\n    token: t\n    as: b\n    as-groups: [c]\n"
        b"contexts:\n- name: a\n  context: {cluster: a, user: a, namespace: d}\n",
        b'{"current-context":"a","clusters":[{"name":"a","cluster":{"server":"https://x","insecure-skip-tls-verify":true}}],'
        b'"users":[{"name":"a","user":{"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"true","interactiveMode":"Never"}}}],'
        b'"contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}]}',
        b"current-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nclusters: [{name: a, cluster: {server: 'https://x'}}]\n"
        b"users: [{name: a, user: {username: u, password: p}}]\n",
    ),
    words=(
        b"clusters", b"users", b"contexts", b"current-context", b"name", b"cluster", b"user", b"server", b"token", b"tokenFile", b"exec", b"null",
        b"[]", b"{}", b"1", b"as-user-extra: {a: [b]}", b"client-certificate-data: YQ==", b"client-key-data: YQ==", b"proxy-url", b"\n", b"- ", b": ",
        b"certificate-authority", b"\xff", b"~", b"auth-provider",
    ),
    per_byte=60e-6,
)  # fmt: skip
