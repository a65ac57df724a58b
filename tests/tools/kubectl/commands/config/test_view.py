"""What config view makes of a file."""

from __future__ import annotations

from pathlib import Path

from tests.tools.kubectl.run_kubectl import run


def test_encoded_data_is_shown_without_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        "clusters:\n- name: a\n  cluster:\n    certificate-authority-data: |\n      YWJj\n      ZGVm\n"
    )
    _, out, _ = run("config", "view", "--raw", "--kubeconfig", str(path))
    assert "    certificate-authority-data: YWJjZGVm\n" in out
