"""Checks of a pod's volumes as a list; what each source needs is in ``volume_sources``."""

from __future__ import annotations

from pybernetes.api.core.pod.validation.volume_sources import ORDER, SOURCES
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

# Paths of these sources differ from their field names upstream; clients see them, so they stay.
_SECOND_PATHS = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_PORTAL = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters "
    "if iscsi.initiatorName is specified."
)


def validate_volumes(
    volumes: list[Object], metadata: Object | None, path: Path, errors: Errors
) -> dict[str, Object]:
    """Check the volumes and return those that are valid, by name."""
    pod = metadata.get("name", "") if metadata else ""
    created = {f"{pod}-{volume.get('name', '')}" for volume in volumes if pod and "ephemeral" in volume}
    fine: dict[str, Object] = {}
    for index, volume in enumerate(volumes):
        here = path[index]
        before = len(errors)
        _source(volume, pod, here, errors)
        name = volume.get("name", "")
        checks.required_name(names.dns_label, name, here / "name", errors)
        if name in fine:
            errors.duplicate(here / "name", name)
        if len(errors) == before:
            fine[name] = volume
        claim = volume.get("persistentVolumeClaim", {}).get("claimName", "")
        if claim in created:
            text = "must not reference a PVC that gets created for an ephemeral volume"
            errors.invalid(here / "persistentVolumeClaim" / "claimName", claim, text)
    return fine


def _source(volume: Object, pod: str, path: Path, errors: Errors) -> None:
    given = [key for key in volume if key != "name"]
    if not given:
        errors.required(path, "must specify a volume type")
        return
    if len(given) > 1:
        given.sort(key=ORDER.__getitem__)
    first = given[0]
    SOURCES[first](volume[first], path / first, errors)
    for key in given[1:]:
        errors.forbidden(path / _SECOND_PATHS.get(key, key), "may not specify more than 1 volume type")
    name = volume.get("name", "")
    if "iscsi" in volume and "initiatorName" in volume["iscsi"]:
        portal = volume["iscsi"].get("targetPortal", "")
        if len(f"{name}:{portal}".encode()) > 64:
            errors.invalid(path / "name", name, _PORTAL)
    if first == "ephemeral" and pod and name:
        for problem in names.dns_subdomain(f"{pod}-{name}"):
            errors.invalid(path / "name", name, f'PVC name "{pod}-{name}": {problem}')
