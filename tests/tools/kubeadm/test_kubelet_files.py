"""Files of the kubelet on a machine."""

from pathlib import Path

from pybernetes.tools.kubeadm import kubelet_files


def test_reset_asks_the_runtime_of_the_kubelet(tmp_path: Path) -> None:
    assert kubelet_files.own_socket(tmp_path) == ""
    path = tmp_path / "instance-config.yaml"
    path.write_text("containerRuntimeEndpoint: unix:///run/other.sock\n")
    assert kubelet_files.own_socket(tmp_path) == "unix:///run/other.sock"
    for broken in ("- a list", "containerRuntimeEndpoint: [1]", "{", ""):
        path.write_text(broken)
        assert kubelet_files.own_socket(tmp_path) == ""
