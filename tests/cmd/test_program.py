"""How programs run."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest

from pybernetes import KUBERNETES_VERSION
from pybernetes.api import version
from pybernetes.cmd import _program

_CODE = """
import resource
from pybernetes.cmd import _program

async def work():
    print(resource.getrlimit(resource.RLIMIT_NOFILE))
    return 7

resource.setrlimit(resource.RLIMIT_NOFILE, (64, 2048))
raise SystemExit(_program.run("test", work()))
"""


def test_a_program_opens_as_many_files_as_it_may() -> None:
    done = subprocess.run([sys.executable, "-c", _CODE], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("(2048, 2048)\n", 7), done.stderr


def test_a_program_reports_the_version_that_it_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    _program.add_version(parser)
    try:
        parser.parse_args([f"--version={KUBERNETES_VERSION}-custom"])
        assert version.document()["gitVersion"] == f"{KUBERNETES_VERSION}-custom"
    finally:
        version.report(KUBERNETES_VERSION)
    for given, said in (
        ("v9.9.9", "must match major/minor/patch"),
        ("nonsense", 'invalid argument "nonsense"'),
    ):
        with pytest.raises(SystemExit):
            parser.parse_args([f"--version={given}"])
        assert said in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parser.parse_args(["--version"])
    assert capsys.readouterr().out == f"Kubernetes {KUBERNETES_VERSION}\n"
