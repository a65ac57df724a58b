"""PersistentVolumeClaim: why it has no volume."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.refs import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from pybernetes.tools.why.finding import Finding, link
from pybernetes.tools.why.pod_scheduling import claims
from pybernetes.tools.why.world import Need, Question, World, about

_NO_PROVISIONER = "kubernetes.io/no-provisioner"


def needs(claim: Object) -> list[Need]:
    """Return what decides about a claim."""
    namespace = claim["metadata"]["namespace"]
    return [about(claim), Need(STORAGE_CLASSES), Need(PERSISTENT_VOLUMES), Need(PODS, namespace)]


def decide(claim: Object, world: World) -> tuple[str, list[Finding]]:
    """Say why a claim waits."""
    phase = (claim.get("status") or {}).get("phase") or "Pending"
    if claim["metadata"].get("deletionTimestamp"):
        return "Terminating", _users(claim, world)
    if phase == "Bound":
        return phase, []
    if phase == "Lost":
        volume = claim["spec"].get("volumeName", "")
        text = f"Its volume {volume} is gone, and what was in it."
        return phase, [Finding(text, links=[link(PERSISTENT_VOLUMES, volume)] if volume else [])]
    return phase, _pending(claim, world)


def _pending(claim: Object, world: World) -> list[Finding]:
    spec = claim["spec"]
    name, volume = spec.get("storageClassName"), spec.get("volumeName")
    failed = world.message("ProvisioningFailed", "FailedBinding", "VolumeMismatch", "ClaimLost")
    details = [failed] if failed else []
    if volume and world.is_known(PERSISTENT_VOLUMES) and world.get(PERSISTENT_VOLUMES, volume) is None:
        text = f"It asks for the volume {volume}, which does not exist."
        return [Finding(text, details, [link(PERSISTENT_VOLUMES, volume)])]
    if not name:
        text = (
            "It names no storage class, and there is no default one: a volume has to be made for it by hand."
        )
        return [Finding(text, details, command="kubectl get storageclasses")]
    where = [link(STORAGE_CLASSES, name)]
    class_ = world.get(STORAGE_CLASSES, name)
    if class_ is None:
        if not world.is_known(STORAGE_CLASSES):
            return [Finding("It has no volume yet.", details)]
        return [Finding(f"Its storage class {name} does not exist.", details, where)]
    users = [pod for pod in world.all(PODS) if claim["metadata"]["name"] in claims(pod)]
    if class_.get("volumeBindingMode") == "WaitForFirstConsumer" and not users:
        text = f"It waits for a pod that uses it: the storage class {name} has volumes made then."
        return [Finding(text, [], where, cause=False)]
    provisioner = class_.get("provisioner", "")
    if provisioner == _NO_PROVISIONER:
        text = f"The storage class {name} makes no volumes, and none of those that are there will do."
        return [Finding(text, details, where, "kubectl get persistentvolumes")]
    text = f"It waits for {provisioner} to make a volume."
    return [Finding(text, details, where, cause=bool(failed))]


def _users(claim: Object, world: World) -> list[Finding]:
    name, namespace = claim["metadata"]["name"], claim["metadata"]["namespace"]
    users = [pod["metadata"]["name"] for pod in world.all(PODS) if name in claims(pod)]
    if users:
        links = [link(PODS, user, namespace) for user in users[:5]]
        return [Finding("It is kept as long as pods use it.", links=links)]
    held = ", ".join(claim["metadata"].get("finalizers") or ())
    return [Finding(f"The finalizer {held} keeps it.")] if held else []


WHY = Question(
    PERSISTENT_VOLUME_CLAIMS, ("persistentvolumeclaim", "persistentvolumeclaims", "pvc"), needs, decide
)
