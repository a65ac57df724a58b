"""run: starts a pod, and attaches to it if asked."""

from __future__ import annotations

from pybernetes.api.core.pod.image_names import is_reference
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply import overrides
from pybernetes.tools.kubectl.apply.last_applied import annotate
from pybernetes.tools.kubectl.command_line import shared_flags
from pybernetes.tools.kubectl.commands.create._generator import int_or_text, ordered
from pybernetes.tools.kubectl.commands.create._sources import is_variable
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.output import printers
from pybernetes.tools.kubectl.resources.deletion import propagation_policy
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.label_selector import parse_labels

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Run a particular image on the cluster"
USAGE = 'run NAME --image=image [--env="key=value"] [--port=port] [--dry-run=server|client] [--overrides=inline-json] [--command] -- [COMMAND] [args...]'
FLAGS = (
    shared_flags.PRINT, shared_flags.DRY_RUN, shared_flags.SAVE_CONFIG, shared_flags.RECORD, shared_flags.DELETION, shared_flags.FILES,
    shared_flags.field_manager("kubectl-run"), overrides.FLAGS.format(default="merge"),
    """
- annotations array | annotation as key=value; may be repeated
- attach bool false | wait until the pod runs and attach to it; the default with --stdin
- command bool false | the arguments are the command, not its arguments
- detach-keys string ctrl-p,ctrl-q | keys that leave an attached container
- env array | environment variable as key=value; may be repeated
- expose bool false | make a service for the pod; needs --port
- image string | image to run
- image-pull-policy string | when to pull the image
l labels string | labels of the pod, separated by commas
- leave-stdin-open bool false | keep the input open after the first attach
- pod-running-timeout duration 1m0s | how long to wait until the pod runs
- port string | port that the container listens on
- privileged bool false | run the container with all privileges
q quiet bool false | no messages
- restart string Always | restart policy: Always, OnFailure or Never
- rm bool false | delete the pod afterwards; only for attached containers
i stdin bool false | keep the input of the container open
t tty bool false | give the container a terminal
- wait bool false |
""",
)  # fmt: skip
REQUIRED = ("image",)
DEPRECATED = {"filename": "it is ignored by kubectl run and will be removed in a future release"}
DEPRECATED_LETTERS = ("filename",)


def run(context: Context) -> int | None:
    """Create the pod."""
    flags = context.flags
    attaching = flags.attach or (flags.stdin and "attach" not in flags.changed)
    labels = parse_labels(flags.labels)
    annotations = _pairs(flags.annotations)
    env = _env(flags.env)
    if flags.restart not in ("Always", "OnFailure", "Never", ""):
        raise CommandError(
            f"invalid restart policy: {flags.restart}, valid values are: Always, OnFailure, Never"
        )
    if flags.image_pull_policy not in ("", "Always", "IfNotPresent", "Never"):
        raise CommandError(
            f"invalid image pull policy: {flags.image_pull_policy}, valid values are: Always, IfNotPresent, Never"
        )
    propagation_policy(flags.cascade)
    if flags.pod_running_timeout <= 0:
        raise CommandError("--pod-running-timeout must be higher than zero")
    _check(context, attaching)
    name = context.args[0]
    labels = labels or {"run": name}
    pod = overrides.apply(_pod(context, name, labels, annotations, env), flags.overrides, flags.override_type)
    made = [_send(context, context.record(pod))]
    if flags.expose:
        made.append(_send(context, _service(context, name, labels)))
    if attaching:
        from pybernetes.tools.kubectl.commands._attaching import follow

        return follow(
            context,
            Info(context.discovery.find("pods"), made[0]["metadata"].get("namespace", ""), name, made[0]),
        )
    show = printers.make(context, "created", typed=True)
    for value in made:
        show(value)
    return None


def _pairs(texts: list[str]) -> dict[str, str]:
    wrong = [text for text in texts if "=" not in text or text[0] == "="]
    if wrong:
        raise CommandError(f"invalid annotations format: {', '.join(wrong)}")
    return dict(sorted(text.split("=", 1) for text in texts))


def _env(texts: list[str]) -> list[dict[str, str]]:
    variables = []
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not is_variable(name):
            raise CommandError(f"invalid env: {text}")
        variables.append({"name": name, "value": value} if value else {"name": name})
    return variables


def _check(context: Context, attaching: bool) -> None:
    flags = context.flags
    if not context.args or flags.dash == 0:
        raise CommandError("NAME is required for run")
    if not flags.image:
        raise CommandError("--image is required")
    if not is_reference(flags.image):
        raise CommandError(f'invalid image name "{flags.image}": invalid reference format')
    if flags.tty and not flags.stdin:
        raise CommandError("-i/--stdin is required for containers with -t/--tty=true")
    if flags.expose and not flags.port:
        raise CommandError("--port must be set when exposing a service")
    if flags.port and not flags.port.isdigit():
        raise CommandError("--port must be a number")
    if not attaching and flags.rm:
        raise CommandError("--rm should only be used for attached containers")
    if attaching and context.dry_run() != "none":
        raise CommandError(
            "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)"
        )


def _pod(
    context: Context,
    name: str,
    labels: dict[str, str],
    annotations: dict[str, str],
    env: list[dict[str, str]],
) -> Object:
    flags = context.flags
    container: Object = {"name": name, "image": flags.image}
    arguments = context.args[1:]
    if arguments:
        container["command" if flags.command else "args"] = arguments
    if flags.port:
        container["ports"] = [{"containerPort": int(flags.port)}]
    if env:
        container["env"] = env
    container["resources"] = {}
    if flags.image_pull_policy:
        container["imagePullPolicy"] = flags.image_pull_policy
    if flags.privileged:
        container["securityContext"] = {"privileged": True}
    if flags.stdin:
        container["stdin"] = True
    if flags.stdin and not flags.leave_stdin_open:
        container["stdinOnce"] = True
    if flags.tty:
        container["tty"] = True
    meta: Object = {"name": name}
    if context.namespace_given:
        meta["namespace"] = context.namespace
    meta["labels"] = labels
    if annotations:
        meta["annotations"] = annotations
    spec = {
        "containers": [container],
        "restartPolicy": flags.restart or ("OnFailure" if flags.stdin else "Always"),
        "dnsPolicy": "ClusterFirst",
    }
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": {}}


def _service(context: Context, name: str, labels: dict[str, str]) -> Object:
    port = int(context.flags.port)
    meta: Object = {"name": name}
    if context.namespace_given:
        meta["namespace"] = context.namespace
    if context.flags.labels:
        meta["labels"] = labels
    return {
        "kind": "Service",
        "apiVersion": "v1",
        "metadata": meta,
        "spec": {
            "ports": [{"protocol": "TCP", "port": port, "targetPort": int_or_text(context.flags.port)}],
            "selector": labels,
        },
        "status": {"loadBalancer": {}},
    }


def _send(context: Context, value: Object) -> Object:
    if context.flags.save_config:
        value = annotate(value, typed=True)
    resource = context.discovery.of_kind(value["apiVersion"], value["kind"])
    if context.dry_run() == "client":
        return value
    sent = {**value, "metadata": {**value["metadata"]}}
    if sent["metadata"].get("namespace") == context.namespace:
        del sent["metadata"]["namespace"]
    namespace = sent["metadata"].get("namespace") or context.namespace
    return ordered(context.client.create(resource, namespace, sent, query=context.write_query()))
