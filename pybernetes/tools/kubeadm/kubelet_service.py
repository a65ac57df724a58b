"""The kubelet as a service: of systemd where there is one, else of our own supervisor."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from pybernetes.lib.processes import background_process
from pybernetes.lib.tls.tls import write_atomically
from pybernetes.tools.kubeadm.configuration.component_configs import uses_systemd
from pybernetes.tools.kubeadm.errors import KubeadmError
from pybernetes.tools.kubeadm.locations import KUBELET, KUBELET_BOOTSTRAP, KUBELET_CONF

_VARIABLE = "KUBELET_KUBEADM_ARGS"
_UNIT = Path("/etc/systemd/system/kubelet.service")
_PACKAGED = (Path("/usr/lib/systemd/system/kubelet.service"), Path("/lib/systemd/system/kubelet.service"))


def pyb(*words: str) -> tuple[str, ...]:
    """Return the command line of one of our own programs."""
    return (sys.executable, "-P", "-m", "pybernetes.cmd.main", *words)


def arguments(root: Path = KUBELET) -> list[str]:
    """Return the command line of the kubelet, as the files of kubeadm say."""
    flags = [
        f"--bootstrap-kubeconfig={KUBELET_BOOTSTRAP}",
        f"--kubeconfig={KUBELET_CONF}",
        f"--config={root / 'config.yaml'}",
    ]
    for path, variable in (
        (root / "kubeadm-flags.env", _VARIABLE),
        (Path("/etc/default/kubelet"), "KUBELET_EXTRA_ARGS"),
    ):
        flags += environment_arguments(path, variable)
    return flags


def environment_arguments(path: Path, variable: str) -> list[str]:
    """Return the arguments that a file of variables has in one of them."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return []
    for line in lines:
        name, separator, text = line.strip().partition("=")
        if separator and name == variable:
            return shlex.split(" ".join(shlex.split(text)))
    return []


def unit(command: tuple[str, ...]) -> str:
    """Return the unit of systemd."""
    return f"""\
[Unit]
Description=kubelet: The Kubernetes Node Agent
Wants=network-online.target
After=network-online.target

[Service]
ExecStart={shlex.join(command)}
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
"""


def drop_in(command: tuple[str, ...]) -> str:
    """Return the drop-in that has systemd's kubelet read the files of kubeadm."""
    return f"""\
# kubeadm writes the files that this refers to when it runs.
[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig={KUBELET_BOOTSTRAP} --kubeconfig={KUBELET_CONF}"
Environment="KUBELET_CONFIG_ARGS=--config={KUBELET / "config.yaml"}"
EnvironmentFile=-{KUBELET / "kubeadm-flags.env"}
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart={shlex.join(command)} $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
"""


def install_units() -> None:
    """Give systemd a kubelet.service of ours, unless a package brought one."""
    if any(path.exists() for path in _PACKAGED):
        return
    command = pyb("kubelet")
    write_atomically(_UNIT, unit(command).encode())
    write_atomically(_UNIT.with_name("kubelet.service.d") / "10-kubeadm.conf", drop_in(command).encode())
    _systemctl("daemon-reload")
    _systemctl("enable", "kubelet.service")


def _systemctl(*words: str) -> None:
    done = subprocess.run(["systemctl", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise KubeadmError(f"systemctl {' '.join(words)}: {done.stderr.strip()}")


def start(root: Path = KUBELET) -> None:
    """Start the kubelet, and have it started again whenever it ends."""
    if uses_systemd():
        install_units()
        _systemctl("restart", "kubelet.service")
        return
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    background_process.start(
        pyb("kubelet-supervisor", f"--root-dir={root}"), root / "supervisor.pid", root / "supervisor.log"
    )


def stop(root: Path = KUBELET) -> None:
    """Stop the kubelet; its pods go on."""
    if uses_systemd():
        if is_running(root):
            _systemctl("stop", "kubelet.service")
        return
    background_process.stop(root / "supervisor.pid", 40.0)


def is_running(root: Path = KUBELET) -> bool:
    """Return whether the kubelet's service runs."""
    if uses_systemd():
        done = subprocess.run(["systemctl", "is-active", "--quiet", "kubelet.service"], check=False)
        return done.returncode == 0
    return bool(background_process.running(root / "supervisor.pid"))


def log_hint(root: Path = KUBELET) -> str:
    """Return where the kubelet says what is wrong."""
    return "journalctl -xeu kubelet" if uses_systemd() else f"cat {root / 'kubelet.log'}"
