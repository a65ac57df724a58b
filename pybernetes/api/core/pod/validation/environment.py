"""Checks of environment variables and of what they, and files, can take from the pod."""

from __future__ import annotations

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

ENVIRONMENT_FIELDS = ("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
                      "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP",
                      "status.podIPs")  # fmt: skip
VOLUME_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_KNOWN_FIELDS = frozenset({*ENVIRONMENT_FIELDS, *VOLUME_FIELDS, "spec.restartPolicy", "spec.schedulerName",
                           "status.phase", "spec.host"})  # fmt: skip
_MAPS = ("metadata.annotations", "metadata.labels")
_RESOURCES = tuple(
    f"{kind}.{name}" for kind in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_SIZES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_DIVISORS = {
    "cpu": (("1m", "1"), "1m and 1 are supported with the cpu resource"),
    "memory": (_SIZES, f"{', '.join(_SIZES)} are supported with the memory resource"),
    "ephemeral-storage": (
        _SIZES,
        f"{', '.join(_SIZES)} are supported with the local ephemeral storage resource",
    ),
    "hugepages": (_SIZES, f"{', '.join(_SIZES)} are supported with the hugepages resource"),
}
_SOURCES = (
    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
)
_MORE_THAN_ONE = "may not have more than one field specified at a time"


def validate_env(variables: list[Object], path: Path, errors: Errors) -> None:
    """Check the list of environment variables."""
    for index, variable in enumerate(variables):
        checks.required_name(names.env_var_name, variable.get("name", ""), path[index] / "name", errors)
        if "valueFrom" in variable:
            _value_from(variable, path[index] / "valueFrom", errors)


def _value_from(variable: Object, path: Path, errors: Errors) -> None:
    source = variable["valueFrom"]
    if "fieldRef" in source:
        field_ref(source["fieldRef"], ENVIRONMENT_FIELDS, path / "fieldRef", errors)
    if "resourceFieldRef" in source:
        resource_field_ref(source["resourceFieldRef"], path / "resourceFieldRef", errors, volume=False)
    for key in ("configMapKeyRef", "secretKeyRef"):
        if key in source:
            checks.name(names.dns_subdomain, source[key].get("name", ""), path / key / "name", errors)
            checks.required_name(names.config_map_key, source[key].get("key", ""), path / key / "key", errors)
    if "fileKeyRef" in source:
        _file_key_ref(source["fileKeyRef"], path / "fileKeyRef", errors)
    if not source:
        errors.invalid(path, "", _SOURCES)
    elif variable.get("value"):
        errors.invalid(path, "", "may not be specified when `value` is not empty")
    elif len(source) > 1:
        errors.invalid(path, "", _MORE_THAN_ONE)


def _file_key_ref(reference: Object, path: Path, errors: Errors) -> None:
    checks.required_name(names.env_var_name, reference.get("key", ""), path / "key", errors)
    checks.required_name(names.dns_label, reference.get("volumeName", ""), path / "volumeName", errors)
    if reference.get("path"):
        checks.no_backsteps(reference["path"], path / "path", errors)
    else:
        errors.required(path / "path")


def field_ref(reference: Object, allowed: tuple[str, ...], path: Path, errors: Errors) -> None:
    """Check a reference to a field of the pod."""
    version, field = reference.get("apiVersion", ""), reference.get("fieldPath", "")
    if not version or not field:
        errors.required(path / ("fieldPath" if version else "apiVersion"))
        return
    start, bracket, subscript = field.removesuffix("']").partition("['")
    subscripted = bool(field.endswith("']") and bracket and start)
    problem = ""
    if version != "v1":
        problem = f"unsupported pod version: {version}"
    elif subscripted and start not in _MAPS:
        problem = f"field label does not support subscript: {field}"
    elif not subscripted and field not in _KNOWN_FIELDS:
        problem = f"field label not supported: {field}"
    if problem:
        errors.invalid(path / "fieldPath", field, f"error converting fieldPath: {problem}")
    elif subscripted:
        key = subscript.lower() if start == "metadata.annotations" else subscript
        checks.name(names.qualified_name, key, path, errors)
    else:
        real = "spec.nodeName" if field == "spec.host" else field
        checks.one_of(real, allowed, path / "fieldPath", errors)


def resource_field_ref(reference: Object, path: Path, errors: Errors, *, volume: bool) -> None:
    """Check a reference to a container's resources."""
    resource = reference.get("resource", "")
    huge = resource.startswith(_HUGE_PAGES)
    if volume and not reference.get("containerName"):
        errors.required(path / "containerName")
    elif not resource:
        errors.required(path / "resource")
    elif resource not in _RESOURCES and not huge:
        errors.unsupported(path / "resource", resource, _RESOURCES)
    divisor = reference.get("divisor", "0")
    rule = _DIVISORS.get(
        "hugepages" if huge else resource.partition(".")[2] if resource in _RESOURCES else ""
    )
    if divisor != "0" and rule and divisor not in rule[0]:
        errors.invalid(path / "divisor", resource, f"only divisor's values {rule[1]}")


def validate_env_from(sources: list[Object], path: Path, errors: Errors) -> None:
    """Check the maps that all keys are taken from."""
    for index, source in enumerate(sources):
        here = path[index]
        if source.get("prefix"):
            checks.name(names.env_var_name, source["prefix"], here / "prefix", errors)
        sources_given = [key for key in ("configMapRef", "secretRef") if key in source]
        for key in sources_given:
            name = source[key].get("name", "")
            # A trailing dash is accepted here, as for a prefix of a name.
            shown = name[:-1] + "a" if len(name) > 1 and name.endswith("-") else name
            if not name:
                errors.required(here / key / "name")
            for problem in names.dns_subdomain(shown) if name else ():
                errors.invalid(here / key / "name", name, problem)
        if not sources_given:
            errors.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(sources_given) > 1:
            errors.invalid(path, "", _MORE_THAN_ONE)


def validate_file_keys(container: Object, volumes: list[Object], path: Path, errors: Errors) -> None:
    """Check that variables taken from files name volumes that are an emptyDir."""
    for index, variable in enumerate(container.get("env", ())):
        reference = variable.get("valueFrom", {}).get("fileKeyRef")
        if reference is None:
            continue
        name = reference.get("volumeName", "")
        here = (path / "env")[index] / "valueFrom" / "fileKeyRef" / "volumeName"
        matching = [volume for volume in volumes if volume.get("name", "") == name]
        if not matching:
            errors.not_found(here, name)
        elif "emptyDir" not in matching[-1]:
            errors.invalid(here, name, "referenced volume must be of type emptyDir")
