"""A configuration file with a mistake: each kind is refused with the field's path, exit code 1, and nothing is touched."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SERVER = "apiserver.config.k8s.io/v1"
# The flag, the kind of file, what it says, and what the program says of that.
FILES = [
    ("kube-apiserver", "audit-policy-file", "audit.k8s.io/v1", "Policy", "rules: [{level: Loud}]", 'rules[0].level: Unsupported value: "Loud"'),
    ("kube-apiserver", "admission-control-config-file", SERVER, "AdmissionConfiguration", "plugins: [{name: PodSecurity, configurations: {}}]", 'unknown field "plugins[0].configurations"'),
    ("kube-apiserver", "encryption-provider-config", SERVER, "EncryptionConfiguration", "resources: [{resources: [secrets], providers: [{aescbc: {keys: []}}]}]", "resources[0].providers[0].aescbc.keys: Required value"),
    ("kube-apiserver", "authentication-config", SERVER, "AuthenticationConfiguration", "jwt: [{issuer: {url: 'http://a', audiences: [b]}}]", "jwt[0].issuer.url: Invalid value"),
    ("kube-apiserver", "authorization-config", SERVER, "AuthorizationConfiguration", "authorizers: [{type: Magic, name: a}]", 'authorizers[0].type: Unsupported value: "Magic"'),
    ("kube-apiserver", "tracing-config-file", SERVER, "TracingConfiguration", "samplingRatePerMillion: -1", "samplingRatePerMillion: Invalid value: -1"),
    ("kube-scheduler", "config", "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration", "percentageOfNodesToScore: 101", "percentageOfNodesToScore: Invalid value: 101"),
    ("kubelet", "config", "kubelet.config.k8s.io/v1beta1", "KubeletConfiguration", "maxPods: -1", "maxPods (--max-pods) -1 must not be a negative number"),
    ("kube-proxy", "config", "kubeproxy.config.k8s.io/v1alpha1", "KubeProxyConfiguration", "bindAddress: nowhere", "bindAddress: Invalid value"),
]  # fmt: skip


@pytest.mark.parametrize(("program", "flag", "version", "kind", "text", "said"), FILES, ids=lambda value: value if "-" in str(value) else "")  # fmt: skip
def test_a_bad_file_ends_the_program(
    program: str, flag: str, version: str, kind: str, text: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(f"apiVersion: {version}\nkind: {kind}\n{text}\n")
    command = [sys.executable, "-m", "pybernetes.cmd.main", program, f"--{flag}={file}"]
    if program == "kube-apiserver":
        command += [f"--cert-dir={tmp_path / 'certs'}", f"--data-dir={tmp_path / 'data'}", "--secure-port=0"]
    if program == "kubelet":
        command += [f"--root-dir={tmp_path / 'kubelet'}"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert said in ended.stderr and ended.returncode == 1, ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file.yaml"]
