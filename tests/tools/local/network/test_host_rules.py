from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.local.network.host_rules import HostRules
from pybernetes.tools.local.paths import Cluster


def test_settings_that_cannot_be_read_do_not_end_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = Cluster("trial", tmp_path)
    cluster.create()
    cluster.settings.write_text('{"later": 1}')
    rules = HostRules(cluster, None)  # type: ignore[arg-type]
    assert not rules.restore()
    assert "rules cannot be written again" in capsys.readouterr().err
