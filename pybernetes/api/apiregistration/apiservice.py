"""APIService: who serves a version of a group, this API server or another one behind it."""

from __future__ import annotations

from pybernetes.api import current_time
from pybernetes.api.apiregistration import GROUP
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import KEEPS_METADATA, Column, Object, Resource
from pybernetes.api.table import AGE, NAME, get
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, names

_SPEC = Path("spec")
_STATUSES = ("True", "False", "Unknown")


def default(obj: Object) -> None:
    """Complete the port of the service and the priorities, which are always shown."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("groupPriorityMinimum", 0)
    spec.setdefault("versionPriority", 0)
    if "service" in spec:
        spec["service"].setdefault("port", 443)


def prepare_create(obj: Object) -> None:
    """Mark what this API server serves itself as available."""
    obj["status"] = {}
    if "service" not in obj.get("spec", {}):
        obj["status"]["conditions"] = [
            {
                "type": "Available",
                "status": "True",
                "lastTransitionTime": current_time.timestamp(),
                "reason": "Local",
                "message": "Local APIServices are always available",
            }
        ]


def validate(obj: Object, errors: Errors) -> None:
    """Check the name, which follows from the version and the group, the priorities and the service."""
    spec = obj.get("spec", {})
    group, version = spec.get("group", ""), spec.get("version", "")
    name, wanted = obj["metadata"].get("name", ""), f"{version}.{group}"
    if name and name != wanted and not names.path_segment(name):
        text = f'must be `spec.version+"."+spec.group`: {go_format.quote(wanted)}'
        errors.invalid(Path("metadata") / "name", name, text)
    if not group and version != "v1":
        text = "only v1 may have an empty group and it better be legacy kube"
        errors.required(_SPEC / "group", text)
    for problem in names.dns_subdomain(group) if group else ():
        errors.invalid(_SPEC / "group", group, problem)
    checks.name(names.dns1035_label, version, _SPEC / "version", errors)
    for key, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        priority = spec.get(key, 0)
        if not 0 < priority <= most:
            errors.invalid(_SPEC / key, priority, f"must be positive and less than {most}")
    _validate_service(obj, errors)


def _validate_service(obj: Object, errors: Errors) -> None:
    spec = obj.get("spec", {})
    bundle, insecure = spec.get("caBundle", ""), spec.get("insecureSkipTLSVerify", False)
    path = _SPEC / "insecureSkipTLSVerify"
    if "service" not in spec:
        if bundle:
            size = len(bundle) * 3 // 4 - bundle.count("=")
            errors.invalid(_SPEC / "caBundle", f"{size} bytes", "local APIServices may not have a caBundle")
        if insecure:
            errors.invalid(path, insecure, "local APIServices may not have insecureSkipTLSVerify")
        return
    service = spec["service"]
    for key in ("namespace", "name"):
        if not service.get(key):
            errors.required(_SPEC / "service" / key)
    problems = names.port_number(service.get("port", 0))
    if problems:
        text = "port is not valid: " + ", ".join(problems)
        errors.invalid(_SPEC / "service" / "port", service.get("port", 0), text)
    if insecure and bundle:
        errors.invalid(path, insecure, "may not be true if caBundle is present")


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the conditions."""
    for index, condition in enumerate(new.get("status", {}).get("conditions", ())):
        status = condition.get("status", "")
        if status not in _STATUSES:
            path = (Path("status") / "conditions")[index] / "status"
            errors.unsupported(path, status, _STATUSES)


def _service(obj: Object, now: float) -> str:
    service = get(obj, ".spec.service")
    return "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"


def _available(obj: Object, now: float) -> str:
    for condition in obj.get("status", {}).get("conditions", ()):
        if condition.get("type") == "Available":
            status, reason = condition.get("status", ""), condition.get("reason")
            return f"{status} ({reason})" if status != "True" and reason else status
    return "Unknown"


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="APIService",
    plural="apiservices",
    categories=("api-extensions",),
    namespaced=False,
    subresources=("status",),
    reset=KEEPS_METADATA,
    storage_path="apiregistration.k8s.io/apiservices",
    name_errors=names.path_segment,
    unconditional_update=False,
    columns=(
        NAME,
        Column("Service", _service, description="The service that serves it."),
        Column("Available", _available, description="Whether it can be reached."),
        AGE,
    ),
    default=default,
    prepare_create=prepare_create,
    validate=validate,
    validate_status_update=validate_status_update,
)
