"""What to do so that the containers of a pod match its spec: a pure function of what the runtime has.

Init containers run one after another, each to its end; a sidecar (an init container that always restarts)
only has to be running before the next one starts. The main containers start when all of that is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.core.pod.restart_policy import should_restart
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.cri.pod_runtime import ContainerRun, ContainerState, PodRuntime, restart_triggers


@dataclass(frozen=True, slots=True)
class Kill:
    """A run to be stopped, and why."""

    run: ContainerRun
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Start:
    """A container to be started: the group is initContainers, containers or ephemeralContainers."""

    group: str
    container: Object
    attempt: int


@dataclass(slots=True)
class Actions:
    """What to do, in this order: reset, or kill the pod, kill runs, create a sandbox, start containers."""

    reset: list[ContainerRun] = field(
        default_factory=list
    )  # removed without grace, so that all containers start again
    kill_pod: bool = False  # all its containers and its sandbox
    create_sandbox: bool = False
    kill: list[Kill] = field(default_factory=list)
    start: list[Start] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.reset or self.kill_pod or self.create_sandbox or self.kill or self.start)


@dataclass(frozen=True, slots=True)
class Probed:
    """The results of probes, by the id of a run: True for success, False for failure, absent if not known yet."""

    liveness: Mapping[str, bool] = field(default_factory=dict)
    startup: Mapping[str, bool] = field(default_factory=dict)

    def trouble(self, container: Object, run: ContainerRun) -> str:
        """Return the probe because of which the run has to be killed, if there is one."""
        if "livenessProbe" in container and self.liveness.get(run.id) is False:
            return "liveness"
        if "startupProbe" in container and self.startup.get(run.id) is False:
            return "startup"
        return ""

    def has_started(self, container: Object, run: ContainerRun) -> bool:
        """Return whether the run counts as started."""
        return "startupProbe" not in container or self.startup.get(run.id) is True


def plan(
    pod: Object, runtime: PodRuntime, probed: Probed, fingerprints: Mapping[str, str] | None = None
) -> Actions:
    """Return the next actions for a pod that is to run. ``fingerprints`` are those of the containers' definitions."""
    spec = pod["spec"]
    if restart_triggers(spec, runtime):
        return Actions(reset=_reset(spec, runtime))
    if runtime.sandbox is None:
        return _from_scratch(spec, runtime)
    actions = Actions()
    for container in spec.get("ephemeralContainers", ()):
        if runtime.run(container["name"]) is None:
            actions.start.append(Start("ephemeralContainers", container, 0))
    planner = _Planner(spec, runtime, probed, fingerprints or {}, actions)
    if planner.initialize():
        planner.run_containers()
    return actions


def _reset(spec: Object, runtime: PodRuntime) -> list[ContainerRun]:
    """Return all runs in the order of removal: the cause goes last, so that an interrupted kubelet goes on."""
    causes = restart_triggers(spec, runtime)
    names = [
        container["name"] for group in ("containers", "initContainers") for container in spec.get(group, ())
    ]
    runs = [run for name in names for run in runtime.runs if run.name == name and run not in causes]
    return [*runs, *causes]


def _from_scratch(spec: Object, runtime: PodRuntime) -> Actions:
    """Plan a new sandbox and a new beginning, unless the pod has run its course."""
    actions = Actions(kill_pod=bool(runtime.sandboxes or runtime.running))
    containers = spec.get("containers", [])
    begun = any(runtime.run(container["name"]) is not None for container in containers)
    if spec.get("restartPolicy") == "Never" and runtime.sandboxes and runtime.runs:
        return actions
    waiting = [item for item in containers if not _is_done(item, spec, runtime)]
    if not waiting and begun:
        return actions
    actions.create_sandbox = True
    if spec.get("initContainers"):
        actions.start.append(_start("initContainers", spec["initContainers"][0], runtime))
    else:
        actions.start += [_start("containers", container, runtime) for container in waiting]
    return actions


def _is_done(container: Object, spec: Object, runtime: PodRuntime) -> bool:
    run = runtime.run(container["name"])
    policy = container.get("restartPolicy") or spec.get("restartPolicy")
    return run is not None and run.succeeded and policy == "OnFailure"


def _start(group: str, container: Object, runtime: PodRuntime) -> Start:
    run = runtime.run(container["name"])
    return Start(group, container, run.attempt + 1 if run is not None else 0)


class _Planner:
    """Plans the containers of a pod that has its sandbox."""

    def __init__(
        self,
        spec: Object,
        runtime: PodRuntime,
        probed: Probed,
        fingerprints: Mapping[str, str],
        actions: Actions,
    ) -> None:
        self.spec, self.runtime, self.probed, self.fingerprints = spec, runtime, probed, fingerprints
        self.actions = actions
        self.policy = spec.get("restartPolicy", "Always")

    def initialize(self) -> bool:
        """Move the init containers on; return True when the main containers may run."""
        inits = self.spec.get("initContainers", [])
        done = any(self.runtime.current(container["name"]) for container in self.spec.get("containers", ()))
        # Ended runs may have been removed, so the last one that is known tells how far initialization is.
        reached = max((i for i, item in enumerate(inits) if self.runtime.current(item["name"])), default=-1)
        for index, container in enumerate(inits):
            if done or index < reached:
                if is_restartable(container):
                    self._keep(container)
            elif index == reached:
                done = self._advance(inits, index)
                if self.actions.kill_pod:
                    return False
                return done
        if inits and reached < 0 and not done:
            self.actions.start.append(_start("initContainers", inits[0], self.runtime))
            return False
        return True

    def _advance(self, inits: list[Object], index: int) -> bool:
        """Move on the current init container; return True if it was the last and is done."""
        container = inits[index]
        run = self.runtime.current(container["name"])
        assert run is not None
        if is_restartable(container):
            self._keep(container)
            through = run.state is ContainerState.RUNNING and self.probed.has_started(container, run)
        elif run.state is ContainerState.CREATED:  # the runtime failed to start it
            self.actions.start.append(_start("initContainers", container, self.runtime))
            return False
        elif run.failed:
            if not should_restart(container, self.policy, run.exit_code or 1):
                self.actions.kill_pod = True
                self.actions.start.clear()
                return False
            if run.state is ContainerState.UNKNOWN:
                self.actions.kill.append(Kill(run, "Unknown", "Init container is in an unknown state"))
            self.actions.start.append(_start("initContainers", container, self.runtime))
            return False
        else:
            through = run.succeeded
        if through and index + 1 < len(inits):
            self.actions.start.append(_start("initContainers", inits[index + 1], self.runtime))
            return False
        return through

    def _keep(self, container: Object) -> None:
        """Keep a sidecar running."""
        run = self.runtime.current(container["name"])
        if run is None or run.state in (ContainerState.EXITED, ContainerState.CREATED):
            self.actions.start.append(_start("initContainers", container, self.runtime))
            return
        trouble = self.probed.trouble(container, run)
        if run.state is ContainerState.UNKNOWN or trouble:
            why = f"failed {trouble} probe" if trouble else "is in an unknown state"
            message = f"Init container {container['name']} {why}"
            self.actions.kill.append(Kill(run, trouble or "Unknown", message))
            self.actions.start.append(_start("initContainers", container, self.runtime))

    def run_containers(self) -> None:
        """Start, keep or kill the main containers; a pod that is done loses its sandbox."""
        kept = 0
        starts: list[Start] = []
        for container in self.spec.get("containers", ()):
            run = self.runtime.current(container["name"])
            if run is None or run.state is not ContainerState.RUNNING:
                if self._wants_run(container, run):
                    if run is not None and run.state is ContainerState.UNKNOWN:
                        self.actions.kill.append(Kill(run, "Unknown", "Container is in an unknown state"))
                    starts.append(_start("containers", container, self.runtime))
                continue
            kill = self._wants_kill(container, run)
            if kill is None:
                kept += 1
                continue
            self.actions.kill.append(kill)
            changed = kill.reason == ""
            if changed or (container.get("restartPolicy") or self.policy) != "Never":
                starts.append(_start("containers", container, self.runtime))
        self.actions.start += starts
        if not kept and not starts and not self.actions.kill:
            self.actions.kill_pod = True
            self.actions.start.clear()

    def _wants_run(self, container: Object, run: ContainerRun | None) -> bool:
        last = run or self.runtime.run(container["name"])
        if last is None or last.state is ContainerState.CREATED:
            return True
        return should_restart(
            container, self.policy, last.exit_code if last.state is ContainerState.EXITED else 1
        )

    def _wants_kill(self, container: Object, run: ContainerRun) -> Kill | None:
        name = container["name"]
        wanted = self.fingerprints.get(name)
        if wanted and run.fingerprint and wanted != run.fingerprint:
            return Kill(run, "", f"Container {name} definition changed, will be restarted")
        trouble = self.probed.trouble(container, run)
        if not trouble:
            return None
        again = ", will be restarted" if (container.get("restartPolicy") or self.policy) != "Never" else ""
        return Kill(run, trouble, f"Container {name} failed {trouble} probe{again}")
