"""Programs that can run containers beside runc: how containerd starts them, and where they come from."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RuntimeProgram:
    """A program that runs containers; ``shim`` is what containerd needs beside it."""

    name: str
    source: str  # where it comes from
    runtime_type: str = "io.containerd.runc.v2"  # the shim of all that take runc's command line
    shim: str = ""

    def problem(self) -> str:
        """Return why the program cannot be used on this machine; empty if it can."""
        for program in filter(None, (self.name, self.shim)):
            if shutil.which(program) is None:
                return f"{program} is not installed; {self.source}"
        return ""

    def text(self, state: Path) -> str:
        """Return its part of containerd's configuration."""
        table = f'[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.{self.name}'
        kind = f'    {table}]\n      runtime_type = "{self.runtime_type}"\n'
        if self.shim:  # a shim of its own knows its program
            return kind
        return (
            f"{kind}"
            f'      {table}.options]\n        BinaryName = "{shutil.which(self.name) or self.name}"\n'
            f'        Root = "{state / self.name}"\n'
        )


_GVISOR = (
    "gvisor.dev has runsc and its shim "
    "(Debian's package has no shim, and runc's shim does not learn when containers of runsc end)"
)
PROGRAMS = {
    program.name: program
    for program in (
        RuntimeProgram("crun", "apt-get install crun"),
        RuntimeProgram("runsc", _GVISOR, "io.containerd.runsc.v1", "containerd-shim-runsc-v1"),
    )
}


def check(name: str) -> RuntimeProgram:
    """Return the program of a name; ValueError if there is none here, with what to do."""
    program = PROGRAMS.get(name)
    if program is None:
        raise ValueError(f"the runtime {name!r} is none of {', '.join(PROGRAMS)}")
    problem = program.problem()
    if problem:
        raise ValueError(f"the runtime {name}: {problem}")
    return program
