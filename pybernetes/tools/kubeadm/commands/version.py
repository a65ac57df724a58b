"""kubeadm version: which version this is."""

from __future__ import annotations

import json
import platform
import sys

from pybernetes import KUBERNETES_VERSION
from pybernetes.lib.flags import Flag
from pybernetes.tools.kubeadm.command_line import Arguments, Command
from pybernetes.tools.kubeadm.configuration.printing import to_yaml
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import MAJOR, MINOR

SUMMARY = "Print the version of kubeadm"


def _work(arguments: Arguments) -> None:
    about = {
        "major": str(MAJOR),
        "minor": str(MINOR),
        "gitVersion": KUBERNETES_VERSION,
        "compiler": sys.implementation.name,
        "platform": f"linux/{platform.machine()}",
    }
    value = {"clientVersion": about}
    if arguments.output == "short":
        print(KUBERNETES_VERSION)
    elif arguments.output == "json":
        print(json.dumps(value, indent=2))
    elif arguments.output == "yaml":
        print(to_yaml(value), end="")
    elif not arguments.output:
        shown = ", ".join(f'{name[0].upper()}{name[1:]}:"{text}"' for name, text in about.items())
        print(f"kubeadm version: &version.Info{{{shown}}}")
    else:
        raise KubeadmError(f"invalid output format: {arguments.output}")


COMMAND = Command(
    "version",
    SUMMARY,
    _work,
    (Flag("output", "", "Output format; available options are 'yaml', 'json' and 'short'"),),
)
