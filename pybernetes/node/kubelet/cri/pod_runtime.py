"""What the container runtime has of a pod: its sandboxes and the runs of its containers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from pybernetes.api.core.pod.restart_policy import restarts_all
from pybernetes.api.resource import Object


class ContainerState(Enum):
    """The state of one run of a container."""

    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PodSandbox:
    """A pod sandbox: its network namespace and the process that holds it."""

    id: str
    ready: bool
    created: float = 0.0
    attempt: int = 0
    addresses: tuple[str, ...] = ()
    host_network: bool = False


@dataclass(frozen=True, slots=True)
class ContainerRun:
    """One run of a container. Times are seconds since the epoch, 0 if it has not happened."""

    id: str
    name: str
    state: ContainerState
    sandbox: str = ""
    attempt: int = 0  # how often the container was restarted before this run
    image: str = ""
    image_ref: str = ""
    created: float = 0.0
    started: float = 0.0
    finished: float = 0.0
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    fingerprint: str = ""  # of the definition that it was created from
    log_path: str = ""
    pre_stop: str = ""  # the hook of the definition, as JSON

    @property
    def failed(self) -> bool:
        """Whether it ended with an error, or its state is unknown."""
        return self.state is ContainerState.UNKNOWN or (
            self.state is ContainerState.EXITED and self.exit_code != 0
        )

    @property
    def succeeded(self) -> bool:
        """Whether it ended without an error."""
        return self.state is ContainerState.EXITED and self.exit_code == 0


@dataclass(frozen=True, slots=True)
class PodRuntime:
    """Everything of one pod, the newest first."""

    uid: str
    sandboxes: tuple[PodSandbox, ...] = ()
    runs: tuple[ContainerRun, ...] = ()
    _by_name: dict[str, ContainerRun] = field(default_factory=dict, repr=False, compare=False)
    _before: dict[str, ContainerRun] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        for run in self.runs:
            if self._by_name.setdefault(run.name, run) is not run:
                self._before.setdefault(run.name, run)

    @property
    def sandbox(self) -> PodSandbox | None:
        """The sandbox that containers can run in, if there is one."""
        newest = self.sandboxes[0] if self.sandboxes else None
        return newest if newest is not None and newest.ready else None

    @property
    def next_attempt(self) -> int:
        """The number of the next sandbox."""
        return self.sandboxes[0].attempt + 1 if self.sandboxes else 0

    def run(self, name: str) -> ContainerRun | None:
        """Return the newest run of a container."""
        return self._by_name.get(name)

    def current(self, name: str) -> ContainerRun | None:
        """Return the newest run of a container in the current sandbox."""
        run, sandbox = self._by_name.get(name), self.sandbox
        return run if run is not None and sandbox is not None and run.sandbox == sandbox.id else None

    def previous(self, name: str) -> ContainerRun | None:
        """Return the run of a container before its newest."""
        return self._before.get(name)

    @property
    def running(self) -> tuple[ContainerRun, ...]:
        """The runs that have not ended."""
        return tuple(run for run in self.runs if run.state is ContainerState.RUNNING)


def restart_triggers(spec: Object, runtime: PodRuntime) -> list[ContainerRun]:
    """Return the newest runs whose end makes all containers start again."""
    runs = []
    for group in ("containers", "initContainers"):
        for container in spec.get(group, ()):
            run = runtime.run(container["name"])
            if (
                run is not None
                and run.state is ContainerState.EXITED
                and restarts_all(container, run.exit_code)
            ):
                runs.append(run)
    return runs
