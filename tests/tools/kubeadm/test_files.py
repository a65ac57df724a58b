"""What is written to a machine: certificates, kubeconfigs, manifests, the kubelet's files."""

from __future__ import annotations

import base64
import datetime
import shutil
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from pybernetes.client import kubeconfig_files as reading
from pybernetes.tools.kubeadm import (
    arguments,
    certificate_files,
    certificates,
    etcd_pod,
    external_authorities,
    kubeconfig_files,
    kubelet_files,
    kubelet_service,
    patches,
    renewal,
    static_pods,
)
from pybernetes.tools.kubeadm.certificate_list import BY_NAME, Subject, wanted
from pybernetes.tools.kubeadm.configuration import defaults
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.main import main

CLUSTER = defaults.cluster(
    {
        "kubernetesVersion": "v1.37.0",
        "controlPlaneEndpoint": "lb.example:6443",
        "encryptionAlgorithm": "ECDSA-P256",
        "apiServer": {"certSANs": ["extra.example", "10.9.9.9"]},
    }
)
SUBJECT = Subject(CLUSTER, "cp1", "10.0.0.2")
Object = dict[str, Any]


def silent(text: str) -> None:
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("pki")
    for certificate in wanted(SUBJECT):
        certificates.ensure(made, SUBJECT, certificate, silent)
    return made


def test_the_api_server_is_known_by_all_its_names(folder: Path) -> None:
    certificate = certificate_files.read_certificate(folder / "apiserver.crt")
    assert certificate is not None
    assert certificate_files.alternative_names(certificate) == {
        "cp1", "extra.example", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local", "lb.example", "10.96.0.1", "10.0.0.2", "10.9.9.9",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("base", "authority", "subject", "uses"),
    [
        ("apiserver", "ca", "CN=kube-apiserver", {"serverAuth"}),
        ("apiserver-kubelet-client", "ca", "CN=kube-apiserver-kubelet-client", {"clientAuth"}),
        ("front-proxy-client", "front-proxy-ca", "CN=front-proxy-client", {"clientAuth"}),
        ("etcd/server", "etcd/ca", "CN=cp1", {"serverAuth", "clientAuth"}),
        ("etcd/peer", "etcd/ca", "CN=cp1", {"serverAuth", "clientAuth"}),
        ("apiserver-etcd-client", "etcd/ca", "CN=kube-apiserver-etcd-client", {"clientAuth"}),
    ],
)
def test_certificates(folder: Path, base: str, authority: str, subject: str, uses: set[str]) -> None:
    own = certificate_files.read_certificate(folder / f"{base}.crt")
    issuer = certificate_files.read_certificate(folder / f"{authority}.crt")
    assert own is not None and issuer is not None
    own.verify_directly_issued_by(issuer)
    assert own.subject.rfc4514_string() == subject
    listed = own.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert {usage._name for usage in listed} == uses
    assert (folder / f"{base}.key").stat().st_mode & 0o777 == 0o600


def test_certificates_that_are_there_stay_if_they_fit(folder: Path) -> None:
    before = (folder / "apiserver.crt").read_bytes()
    said: list[str] = []
    certificates.ensure(folder, SUBJECT, BY_NAME["apiserver"], said.append)
    assert said == ["[certs] Using existing apiserver certificate and key on disk"]
    assert (folder / "apiserver.crt").read_bytes() == before
    with pytest.raises(KubeadmError, match=r"is invalid: x509: certificate is valid for .*, not other"):
        certificates.ensure(folder, Subject(CLUSTER, "other", "10.0.0.2"), BY_NAME["apiserver"], silent)


def test_etcd_elsewhere_needs_no_certificates_of_ours() -> None:
    elsewhere = {**CLUSTER, "etcd": {"external": {"endpoints": ["https://e:2379"]}}}
    names = [certificate.name for certificate in wanted(Subject(elsewhere, "cp1", "10.0.0.2"))]
    assert names == ["ca", "apiserver", "apiserver-kubelet-client", "front-proxy-ca", "front-proxy-client"]


def test_kubeconfigs(folder: Path, tmp_path: Path) -> None:
    for identity in kubeconfig_files.identities("cp1").values():
        kubeconfig_files.ensure(tmp_path, SUBJECT, 6443, identity, folder, silent)
    admin = reading.read(tmp_path / "admin.conf")
    assert admin["clusters"][0]["cluster"]["server"] == "https://lb.example:6443"
    assert (
        reading.read(tmp_path / "kubelet.conf")["clusters"][0]["cluster"]["server"] == "https://10.0.0.2:6443"
    )
    data = base64.b64decode(admin["users"][0]["user"]["client-certificate-data"])
    assert (
        x509.load_pem_x509_certificate(data).subject.rfc4514_string()
        == "CN=kubernetes-admin,O=kubeadm:cluster-admins"
    )
    assert (tmp_path / "admin.conf").stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other"
    certificates.ensure(other, SUBJECT, BY_NAME["ca"], silent)
    with pytest.raises(KubeadmError, match="has got the wrong CA cert"):
        identity = kubeconfig_files.identities("cp1")["admin"]
        kubeconfig_files.ensure(tmp_path, SUBJECT, 6443, identity, other, silent)


def command(pod: Object) -> list[str]:
    return list(pod["spec"]["containers"][0]["command"])


def test_static_pods() -> None:
    endpoint = {"advertiseAddress": "10.0.0.2", "bindPort": 6443}
    cluster = {
        **CLUSTER,
        "apiServer": {"extraArgs": [{"name": "v", "value": "4"}, {"name": "secure-port", "value": "7"}]},
    }
    pods = static_pods.control_plane(cluster, endpoint, "4m0s")
    server = command(pods["kube-apiserver"])
    assert server[-2:] == ["--v=4", "--secure-port=7"] and "--secure-port=6443" not in server
    assert "--etcd-servers=https://127.0.0.1:2379" in server and server[1:-2] == sorted(server[1:-2])
    assert pods["kube-scheduler"]["spec"]["containers"][0]["startupProbe"]["failureThreshold"] == 24
    assert (
        pods["kube-apiserver"]["spec"]["containers"][0]["image"] == "registry.k8s.io/kube-apiserver:v1.37.0"
    )
    elsewhere = {
        **CLUSTER,
        "etcd": {"external": {"endpoints": ["https://e:1", "https://f:1"], "caFile": "/etc/e/ca.crt"}},
    }
    pod = static_pods.control_plane(elsewhere, endpoint, "4m0s")["kube-apiserver"]
    assert "--etcd-servers=https://e:1,https://f:1" in command(
        pod
    ) and "--etcd-cafile=/etc/e/ca.crt" in command(pod)
    assert {"name": "etcd-certs-0", "hostPath": {"path": "/etc/e", "type": "DirectoryOrCreate"}} in pod[
        "spec"
    ]["volumes"]


@pytest.mark.parametrize(
    ("tag", "flag", "path"),
    [
        ("3.4.23-0", "--experimental-initial-corrupt-check=true", "/health?serializable=false"),
        ("3.5.16-0", "--experimental-initial-corrupt-check=true", "/readyz"),
        ("3.7.0-0", "--feature-gates=InitialCorruptCheck=true", "/readyz"),
        ("", "--feature-gates=InitialCorruptCheck=true", "/readyz"),
    ],
)
def test_etcd_of_every_version(tag: str, flag: str, path: str) -> None:
    cluster = {**CLUSTER, "etcd": {"local": {"dataDir": "/var/lib/etcd", "imageTag": tag}}}
    pod = etcd_pod.member(
        cluster, "10.0.0.2", "cp1", "4m0s", {"a": "https://a:2380", "cp1": "https://cp1:2380"}
    )
    assert flag in command(pod)
    assert "--initial-cluster=a=https://a:2380,cp1=https://cp1:2380" in command(pod)
    assert "--initial-cluster-state=existing" in command(pod)
    assert pod["spec"]["containers"][0]["readinessProbe"]["httpGet"]["path"] == path


def test_arguments_of_users_win() -> None:
    assert arguments.command({"b": "1", "a": "2"}, [("b", "3"), ("b", "4")]) == ["--a=2", "--b=3", "--b=4"]
    assert arguments.command({"c": "1"}, [("b", "3"), ("a", "4")]) == ["--c=1", "--b=3", "--a=4"]


def test_flags_of_the_kubelet(tmp_path: Path) -> None:
    registration = {
        "name": "n1", "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}],
        "kubeletExtraArgs": [{"name": "node-labels", "value": "a=b c"}],
    }  # fmt: skip
    flags = kubelet_files.flags(registration, register_taints=True)
    assert flags == ["--hostname-override=n1", "--register-with-taints=k=v:NoSchedule", "--node-labels=a=b c"]
    (tmp_path / "kubeadm-flags.env").write_text(kubelet_files.environment(["--a=b", "--c=d"]))
    assert kubelet_service.environment_arguments(tmp_path / "kubeadm-flags.env", "KUBELET_KUBEADM_ARGS") == [
        "--a=b",
        "--c=d",
    ]


def test_patches(tmp_path: Path) -> None:
    pod: Object = {"spec": {"containers": [{"name": "etcd", "image": "e"}]}}
    (tmp_path / "etcd0+strategic.yaml").write_text(
        "spec: {containers: [{name: etcd, imagePullPolicy: Never}]}"
    )
    (tmp_path / "etcd1+json.json").write_text('[{"op": "add", "path": "/spec/hostNetwork", "value": true}]')
    (tmp_path / "kube-scheduler+merge.yaml").write_text("spec: null")
    result = patches.patched("etcd", pod, tmp_path, silent)
    assert result == {
        "spec": {
            "hostNetwork": True,
            "containers": [{"name": "etcd", "image": "e", "imagePullPolicy": "Never"}],
        }
    }
    (tmp_path / "etcd2+bogus.yaml").write_text("{}")
    with pytest.raises(KubeadmError, match='unknown patch type "bogus"'):
        patches.patched("etcd", pod, tmp_path, silent)


def test_requests_for_an_authority_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["certs", "generate-csr", "--cert-dir", str(tmp_path / "pki"), "--kubeconfig-dir", str(tmp_path)]
    assert main(words) == 0
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert {"pki/apiserver.csr", "pki/etcd/peer.key", "admin.conf", "kubelet.conf.csr"} <= made and len(
        made
    ) == 24
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_file()} == {0o600}
    request = x509.load_pem_x509_csr((tmp_path / "super-admin.conf.csr").read_bytes())
    assert request.subject.rfc4514_string() == "CN=kubernetes-super-admin,O=system:masters"
    before = (tmp_path / "admin.conf").read_bytes()
    assert main(words) == 1 and "exists already" in capsys.readouterr().err
    assert (tmp_path / "admin.conf").read_bytes() == before and b"client-key-data" in before


def test_certificates_of_an_etcd_that_is_not_ours_are_not_renewed() -> None:
    names = {
        kind: set(
            renewal.all_names(
                renewal.Place(Subject({"etcd": {kind: {}}}, "n", "10.0.0.1"), 6443, Path(), Path())
            )
        )
        for kind in ("local", "external")
    }
    assert names["local"] - names["external"] == {
        "apiserver-etcd-client", "etcd-healthcheck-client", "etcd-peer", "etcd-server",
    }  # fmt: skip
    assert "front-proxy-client" in names["external"]


def test_certificates_whose_authority_is_elsewhere_are_told_and_left_alone(
    folder: Path, tmp_path: Path
) -> None:
    made = tmp_path / "pki"
    shutil.copytree(folder, made)
    (made / "ca.key").unlink()
    where = renewal.Place(SUBJECT, 6443, made, tmp_path)
    said = renewal.renew(where, "apiserver")
    assert renewal.renew(where, "scheduler.conf") == (
        "MISSING! certificate embedded in the kubeconfig file for the scheduler manager to use"
    )
    assert said.startswith("Detected external ca, certificate for serving the Kubernetes API")
    assert said.endswith(" can't be renewed")
    assert (made / "apiserver.crt").read_bytes() == (folder / "apiserver.crt").read_bytes()
    table = [
        line.split()
        for line in renewal.table(renewal.as_value(renewal.expirations(where))).splitlines()
        if line
    ]
    managed = {line[0]: line[-1] for line in table}
    assert (
        managed["apiserver"] == managed["ca"] == "yes"
        and managed["etcd-server"] == managed["etcd-ca"] == "no"
    )
    values = renewal.as_value(renewal.expirations(where))["certificateAuthorities"]
    assert [entry["name"] for entry in values if entry["externallyManaged"]] == ["ca"]


def test_what_an_authority_elsewhere_has_to_have_signed(folder: Path, tmp_path: Path) -> None:
    made = tmp_path / "pki"
    shutil.copytree(folder, made)
    external_authorities.check(made, tmp_path, upload=True)  # its key is here
    (made / "ca.key").unlink()
    with pytest.raises(KubeadmError, match=r"the admin\.conf file does not exists or it is not valid"):
        external_authorities.check(made, tmp_path, upload=False)
    for identity in kubeconfig_files.identities("n").values():
        (tmp_path / identity.file).touch()
    external_authorities.check(made, tmp_path, upload=False)
    with pytest.raises(KubeadmError, match="can't use upload-certs with an external CA"):
        external_authorities.check(made, tmp_path, upload=True)
    key = made / "apiserver.key"
    kept = key.read_bytes()
    key.unlink()
    missing = f"open {key}: no such file or directory"
    with pytest.raises(
        KubeadmError, match=f"incomplete external CA: failure loading key for apiserver: .*{missing}"
    ):
        external_authorities.check(made, tmp_path, upload=False)
    key.write_bytes(kept)
    (made / "front-proxy-ca.key").unlink()
    for suffix in ("crt", "key"):
        shutil.copy(made / f"apiserver.{suffix}", made / f"front-proxy-client.{suffix}")
    with pytest.raises(
        KubeadmError, match=r"incomplete external front-proxy CA: .*not signed by front-proxy-ca"
    ):
        external_authorities.check(made, tmp_path, upload=False)


@pytest.mark.parametrize(("hours", "left"), [(1, "59m"), (30, "29h"), (24 * 365, "364d")])
def test_what_ends_soon_is_told_in_small_units(hours: int, left: str) -> None:
    end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=hours, seconds=-30)
    shown = renewal.table(renewal.as_value([renewal.Expiration("a", end, "ca")]))
    assert left in shown.split()
