"""Errors become messages and exit codes."""

from __future__ import annotations

import pytest

from pybernetes.tools.kubeadm.main import main


def test_errors_become_messages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bogus"]) == 1
    assert capsys.readouterr().err.startswith('error: unknown command "bogus" for "kubeadm"\n')
    assert main(["token", "create", "bad"]) == 1
    assert 'the bootstrap token "bad" was not of the form' in capsys.readouterr().err
    assert main(["version", "-o", "short"]) == 0 and capsys.readouterr().out == "v1.37.0\n"
