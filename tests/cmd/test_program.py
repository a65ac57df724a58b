"""How programs run."""

from __future__ import annotations

import subprocess
import sys

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
