"""Configurations: defaults, errors and their words, what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.kubeadm.configuration import (
    defaults,
    documents,
    loading,
    migration,
    networks,
    printing,
    validation,
)
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.main import main

INIT = """\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 10.0.0.1}
nodeRegistration: {name: cp1, criSocket: "unix:///x"}
---
apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
kubernetesVersion: v1.37.0
"""


def load(text: str) -> loading.InitSettings:
    return loading.init(documents.read(text.encode()))


def test_defaults() -> None:
    settings = load(INIT)
    assert settings.cluster["networking"] == {"serviceSubnet": "10.96.0.0/12", "dnsDomain": "cluster.local"}
    assert settings.init["localAPIEndpoint"] == {"advertiseAddress": "10.0.0.1", "bindPort": 6443}
    (token,) = settings.init["bootstrapTokens"]
    assert token["ttl"] == "24h0m0s" and token["usages"] == ["signing", "authentication"]
    assert settings.init["nodeRegistration"]["taints"] == [
        {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    ]
    assert settings.components["KubeletConfiguration"]["clusterDNS"] == ["10.96.0.10"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("certificateKey: zz", "certificateKey: Invalid value: \"zz\": certificate key decoding error: encoding/hex: invalid byte"),
        ("certificateKey: abcd", "invalid certificate key size 2, the key must be an AES key of size 32"),
        ("bootstrapTokens: [{token: short}]", r'the bootstrap token "short" was not of the form "\\\\A\(\[a-z0-9\]\{6\}\)'),
        ("bootstrapTokens: [{token: abcdef.0123456789abcdef, usages: [foo]}]",
         "bootstrapTokens.0.usages: Invalid value: \\[\"foo\"\\]: invalid bootstrap token usage string: foo"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_init(more: str, message: str) -> None:
    with pytest.raises(KubeadmError, match=message):
        load(INIT.replace("localAPIEndpoint", f"{more}\nlocalAPIEndpoint"))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("controlPlaneEndpoint: 'lb example:6443'", "hostport lb example:6443: host 'lb example' must be a valid IP address"),
        ("controlPlaneEndpoint: 'lb:70000'", "port 70000 must be a valid number between 1 and 65535"),
        ("certificatesDir: rel", 'certificatesDir: Invalid value: "rel": path is not absolute'),
        ("imageRepository: BAD repo", "imageRepository: Invalid value: .*invalid image repository format"),
        ("encryptionAlgorithm: X", "Must be one of \\[ECDSA-P256 ECDSA-P384 RSA-2048 RSA-3072 RSA-4096\\]"),
        ("etcd: {local: {}, external: {endpoints: []}}", "etcd: .*mutually exclusive"),
        ("etcd: {external: {endpoints: [10.0.0.1:2379]}}", "the URL without scheme is not allowed"),
        ("etcd: {external: {endpoints: ['http://a:1'], caFile: /ca}}", "the URL must be using the HTTPS scheme"),
        ("etcd: {external: {endpoints: ['https://a:1'], certFile: /c}}", "either both or none of"),
        ("networking: {serviceSubnet: 10.0.0.0/8}", "for 32-bit addresses, the mask must be >= 12"),
        ("networking: {serviceSubnet: 10.0.0.0/30}", "subnet with 4 address\\(es\\) is too small, the minimum is 10"),
        ("networking: {podSubnet: 10.0.0.0/25}", "is smaller than the size of node subnet with mask 24"),
        ("networking: {podSubnet: 10.0.0.0/4}", "difference is greater than 16"),
        ("networking: {podSubnet: nonsense}", "couldn't parse subnet"),
        ("networking: {podSubnet: 10.0.0.0}", "couldn't parse subnet"),
        ("networking: {podSubnet: 10.0.0.0/255.0.0.0}", "couldn't parse subnet"),
        ("networking: {dnsDomain: A_b}", "networking.dnsDomain: Invalid value"),
        ("apiServer: {extraArgs: [{name: '', value: a}]}", 'apiServer.extraArgs: Invalid value: "index 0": argument has no name'),
        ("apiServer: {certSANs: ['a b']}", "altname is not a valid IP address, DNS label"),
        ("featureGates: {Nope: true, Also: true}", "Also is not a valid feature name.*Nope is not a valid feature name."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_cluster(more: str, message: str) -> None:
    with pytest.raises(KubeadmError, match=message):
        load(f"{INIT}{more}\n")


def test_versions() -> None:
    assert loading.release("stable-1") == loading.release("latest") == "v1.37.0"
    assert loading.release("1.36.2") == "v1.36.2"
    with pytest.raises(KubeadmError, match=r">= 1\.36\.0\. Current version: v1\.20\.0"):
        loading.release("v1.20.0")
    with pytest.raises(KubeadmError, match="neither semantic version nor labels"):
        loading.release("newest")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b\n", "kind and apiVersion is mandatory information"),
        ("apiVersion: kubeadm.k8s.io/v1beta3\nkind: InitConfiguration\n", "uses an old API spec.*Please use kubeadm v1.36"),
        (f"{INIT}---\n{INIT}", "is specified twice"),
        ("- a\n", "not an object"),
        (INIT.replace("kubernetesVersion: v1.37.0", "kubernetesVersion: 1"),
         "cannot unmarshal number into Go struct field ClusterConfiguration.kubernetesVersion of type string"),
        (f"{INIT}networking: {{podSubnet: {{}}}}\n",
         "cannot unmarshal object into Go struct field Networking.networking.podSubnet of type string"),
        (f"{INIT}featureGates: {{a: x}}\n",
         "cannot unmarshal string into Go struct field ClusterConfiguration.featureGates of type bool"),
    ],
)  # fmt: skip
def test_texts_that_are_no_configuration(text: str, message: str) -> None:
    with pytest.raises(KubeadmError, match=message):
        documents.read(text.encode())


def test_unknown_fields_are_named() -> None:
    text = f"{INIT}bogus: 1\n"
    documents.read(text.encode())
    with pytest.raises(
        KubeadmError, match='Kind:"ClusterConfiguration"}: strict decoding error: unknown field "bogus"'
    ):
        documents.read(text.encode(), strict=True)


def test_what_cannot_be_read_is_named_with_its_kind() -> None:
    text = f"{INIT}certificateValidityPeriod: x\n"
    with pytest.raises(
        KubeadmError, match=r'^error unmarshaling .* Kind:"ClusterConfiguration"}: time: invalid'
    ):
        documents.read(text.encode(), strict=True)
    with pytest.raises(KubeadmError, match=r"^time: invalid"):
        documents.read(text.encode())


def test_durations_are_kept_as_go_writes_them() -> None:
    given = documents.read(
        f"{INIT}certificateValidityPeriod: 90m\ncaCertificateValidityPeriod: -1h\n".encode()
    )
    cluster = given.own["ClusterConfiguration"]
    assert (cluster["certificateValidityPeriod"], cluster["caCertificateValidityPeriod"]) == (
        "1h30m0s",
        "-1h0m0s",
    )


def test_images_are_those_of_a_configuration_that_init_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(f"{INIT}imageRepository: other.example/k8s\n")
    words = ["config", "images", "list", f"--config={path}"]
    assert main(words) == 0 and "other.example/k8s/kube-apiserver:v1.37.0\n" in capsys.readouterr().out
    path.write_text(f"{INIT}networking: {{podSubnet: 10.0.0.0/33}}\n")
    assert main(words) == 1
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith(
        'error: could not convert cfg to an internal cfg: networking.podSubnet: Invalid value: "10.0.0.0/33"'
    )
    path.write_text("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ResetConfiguration\n")
    assert main(words) == 1 and "kind was found in the YAML file" in capsys.readouterr().err


def test_addresses_that_mean_another_machine_elsewhere(caplog: pytest.LogCaptureFixture) -> None:
    own = loading.own_address()
    for address in ("127.0.0.1", "::1", "0.0.0.0", ""):
        assert loading.endpoint({"advertiseAddress": address, "bindPort": 1})["advertiseAddress"] == own
    assert [
        word in caplog.text for word in ('requested "127.0.0.1"', 'requested "::1"', 'requested "0.')
    ] == [True, True, False]


def test_addresses_of_runtimes_without_a_scheme(caplog: pytest.LogCaptureFixture) -> None:
    assert loading.cri_socket("/run/a.sock") == "unix:///run/a.sock"
    assert loading.cri_socket("a.sock") == "unix://a.sock"
    assert (
        loading.cri_socket("tcp://a") == "tcp://a"
        and caplog.text.count("without URL scheme is deprecated") == 2
    )


def test_an_empty_path_means_the_usual_one() -> None:
    assert defaults.join({"caCertPath": ""})["caCertPath"] == "/etc/kubernetes/pki/ca.crt"


def test_joining_needs_somebody_to_ask() -> None:
    errors = validation.join(
        {
            **defaults.join({}),
            "nodeRegistration": {"name": "n", "criSocket": "unix:///x", "imagePullPolicy": ""},
        }
    )
    assert [str(error) for error in errors] == [
        'discovery: Invalid value: "": bootstrapToken or file must be set'
    ]


def test_the_version_before_is_migrated() -> None:
    old = {
        "apiVersion": "kubeadm.k8s.io/v1beta3", "kind": "ClusterConfiguration",
        "apiServer": {"extraArgs": {"v": "2", "a": "b"}, "timeoutForControlPlane": "4m0s"},
    }  # fmt: skip
    assert migration.migrated(old) == {
        "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration",
        "apiServer": {"extraArgs": [{"name": "a", "value": "b"}, {"name": "v", "value": "2"}]},
    }  # fmt: skip


def test_a_migrated_file_is_its_owners_alone_and_no_link_is_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, other = tmp_path / "old", tmp_path / "new", tmp_path / "other"
    old.write_text("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ResetConfiguration\n")
    words = ["config", "migrate", f"--old-config={old}", f"--new-config={new}"]
    assert main(words) == 0
    assert new.stat().st_mode & 0o777 == 0o600 and "kind: ResetConfiguration" in new.read_text()
    new.unlink()
    new.symlink_to(other)
    assert main(words) == 1
    assert not other.exists() and "is no regular file" in capsys.readouterr().err


def test_texts_that_look_like_something_else_are_quoted() -> None:
    assert printing.to_yaml({"b": "2", "a": "x", "c": "true", "d": ""}) == 'a: x\nb: "2"\nc: "true"\nd: ""\n'


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("lb.example:6443", ("lb.example", 6443)),
        ("lb.example", ("lb.example", None)),
        ("[::1]:6443", ("::1", 6443)),
        ("::1", ("::1", None)),
        ("1.2.3.4:0", None),
        ("a:99999", None),
        ("[::1", None),
        ("", None),
    ],
)
def test_endpoints(text: str, parsed: object) -> None:
    assert networks.host_port(text) == parsed
