from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.tools.local import settings_file
from pybernetes.tools.local.settings import SettingsError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nodes: 3\nproxyMode: userspace", {"nodes": 3, "proxy_mode": "userspace"}),
        ("dns: none\nnodeLocalDNS: true", {"dns": "none", "node_local_dns": True}),
        ("kubeletArguments: [--max-pods=20]", {"kubelet_arguments": ["--max-pods=20"]}),
        ("node: 3", "unknown field 'node'"),
        ("nodes: [", "while parsing"),
    ],
)
def test_files_give_settings(tmp_path: Path, text: str, expected: dict[str, Any] | str) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(f"apiVersion: {settings_file.API_VERSION}\nkind: {settings_file.KIND}\n{text}\n")
    if isinstance(expected, dict):
        assert settings_file.read(path) == expected
    else:
        with pytest.raises(SettingsError, match=expected):
            settings_file.read(path)
    path.write_text(text)
    with pytest.raises(SettingsError):
        settings_file.read(path)
