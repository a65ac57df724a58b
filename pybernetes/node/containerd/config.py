"""The configuration of a private containerd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pybernetes.node.containerd.runtimes import RuntimeProgram

# The name under which the sandbox image is imported; it comes from no registry.
PAUSE_IMAGE = "pybernetes.dev/pause:1"
NAMESPACE = "k8s.io"
_CAP_SYS_RESOURCE = 24


@dataclass(frozen=True, slots=True)
class ContainerdPaths:
    """Where a containerd keeps its files: below one folder for data and one for what need not survive a reboot.

    Its configuration, that of its networks and their plugins may lie elsewhere.
    """

    root: Path
    state: Path
    config_file: Path | None = None
    networks: Path | None = None
    plugins: Path | None = None

    @property
    def config(self) -> Path:
        return self.config_file or self.root / "config.toml"

    @property
    def socket(self) -> Path:
        return self.state / "containerd.sock"

    @property
    def cni_configuration(self) -> Path:
        return self.networks or self.root / "cni"

    @property
    def log(self) -> Path:
        return self.root / "containerd.log"


def text(
    paths: ContainerdPaths,
    *,
    cni_plugins: Path,
    systemd_cgroups: bool,
    restrict_oom_score: bool,
    registries: Path | None = None,
    runtimes: Sequence[RuntimeProgram] = (),
) -> str:
    """Return the text of the configuration file."""
    hosts = f'config_path = "{registries}"' if registries else ""
    return f"""\
version = 2
root = "{paths.root / "root"}"
state = "{paths.state / "state"}"

[grpc]
  address = "{paths.socket}"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = {_boolean(restrict_oom_score)}
  enable_unprivileged_ports = true
  enable_unprivileged_icmp = true
  netns_mounts_under_state_dir = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni_plugins}"
    conf_dir = "{paths.cni_configuration}"
    max_conf_num = 1
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = {_boolean(systemd_cgroups)}
        Root = "{paths.state / "runc"}"
{"".join(program.text(paths.state) for program in runtimes)}\
  [plugins."io.containerd.grpc.v1.cri".registry]
    {hosts}
"""


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def may_raise_oom_priority(status: str) -> bool:
    """Return whether processes here may lower their OOM score, from the text of /proc/self/status.

    Where they may not, a sandbox with the score that Kubernetes wants would fail to start.
    """
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> _CAP_SYS_RESOURCE & 1)
    return False
