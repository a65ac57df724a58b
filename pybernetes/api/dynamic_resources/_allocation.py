"""The status of a claim: which devices it got, who may use them, and how they are."""

from __future__ import annotations

import ipaddress

from pybernetes.api.dynamic_resources import _claims, _lists, _names
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import declarative
from pybernetes.api.validation.conditions import validate_conditions
from pybernetes.api.validation.selectors import validate_node_selector

_STATUS = Path("status")
_MOST_USERS, _MOST_RESULTS, _MOST_CONFIGS = 256, 32, 64
_MOST_CONDITIONS, _MOST_ADDRESSES = 8, 16
_LONGEST_INTERFACE, _LONGEST_HARDWARE = 256, 128
_MOST_BINDING = 4


def _results(status: Object) -> list[Object]:
    return status.get("allocation", {}).get("devices", {}).get("results", [])


def device_key(device: Object) -> str:
    """Return a device, or its share, in one text."""
    parts = [device.get(key, "") for key in ("driver", "pool", "device")]
    return "/".join(parts + ([device["shareID"]] if "shareID" in device else []))


def _shown(device: Object) -> go_format.Struct:
    """Return a device as an error shows it."""
    keys = ("driver", "pool", "device", "shareID")
    return go_format.Struct({key[0].upper() + key[1:]: device.get(key, "") for key in keys})


def prepare_status_update(new: Object, old: Object) -> None:
    """Drop fields of features that are off, and the status of devices that are no longer allocated."""
    status, before = new.get("status", {}), old.get("status", {})
    if not any(result.get("skipNodeOperations") for result in _results(before)):
        for result in _results(status):
            result.pop("skipNodeOperations", None)
    gone = {device_key(item) for item in _results(before)} - {device_key(item) for item in _results(status)}
    if "devices" in status:
        status["devices"] = [item for item in status["devices"] if device_key(item) not in gone]
        if not status["devices"]:
            del status["devices"]


def validate_status_update(new: Object, old: Object, errors: Errors) -> None:
    """Check the allocation, its users and the devices."""
    late = Errors()
    status, before = new.get("status", {}), old.get("status", {})
    users, path = status.get("reservedFor", []), _STATUS / "reservedFor"
    _lists.check_items(users, _MOST_USERS, lambda item, here: _user(item, here, errors), path, late)
    _lists.unique(users, lambda item: item.get("uid", ""), path, late)
    allocated = {device_key(result) for result in _results(status)}
    devices = status.get("devices", [])
    _lists.check_items(
        devices, 0, lambda item, here: _device(item, allocated, here, errors, late), _STATUS / "devices", late
    )
    _lists.unique(devices, device_key, _STATUS / "devices", late)
    if users and "allocation" not in status:
        errors.forbidden(path, "may not be specified when `allocated` is not set")
    elif users and new["metadata"].get("deletionTimestamp"):
        if any(user not in before.get("reservedFor", ()) for user in users):
            text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            errors.forbidden(path, text)
    if "allocation" in status and "allocation" in before:
        declarative.immutable(status["allocation"], before["allocation"], _STATUS / "allocation", late)
    elif "allocation" in status:
        known = _claims.request_names(new.get("spec", {}))
        _allocation(status["allocation"], known, _STATUS / "allocation", errors, late)
    errors.extend(late)


def _user(user: Object, path: Path, errors: Errors) -> None:
    for key in ("resource", "name", "uid"):
        if not user.get(key):
            errors.required(path / key)


def _allocation(allocation: Object, known: set[str], path: Path, errors: Errors, late: Errors) -> None:
    devices, where = allocation.get("devices", {}), path / "devices"
    _lists.check_items(
        devices.get("results", []),
        _MOST_RESULTS,
        lambda item, here: _result(item, known, here, errors, late),
        where / "results",
        late,
    )
    _lists.check_items(
        devices.get("config", []),
        _MOST_CONFIGS,
        lambda item, here: _config(item, known, here, errors, late),
        where / "config",
        late,
    )
    if "nodeSelector" in allocation:
        validate_node_selector(allocation["nodeSelector"], path / "nodeSelector", errors)


def _result(result: Object, known: set[str], path: Path, errors: Errors, late: Errors) -> None:
    _claims.validate_reference(result.get("request", ""), known, path / "request", errors)
    _names.any_case_driver(result.get("driver", ""), path / "driver", late)
    _names.pool(result.get("pool", ""), path / "pool", late)
    _names.label(result.get("device", ""), path / "device", errors)
    validate_binding_conditions(result, path, errors, late)
    _claims.validate_tolerations(result.get("tolerations", []), path / "tolerations", errors, late)
    if "shareID" in result:
        _names.uuid(result["shareID"], path / "shareID", late)


def _config(config: Object, known: set[str], path: Path, errors: Errors, late: Errors) -> None:
    source = config.get("source", "")
    if not source:
        late.required(path / "source")
    elif source not in ("FromClaim", "FromClass"):
        late.unsupported(path / "source", source, ("FromClaim", "FromClass"))
    _claims.validate_configuration(config, known, path, errors, late)


def validate_binding_conditions(device: Object, path: Path, errors: Errors, late: Errors) -> None:
    """Check the conditions that say whether a pod may be bound to the node of its device."""
    good, bad = device.get("bindingConditions", []), device.get("bindingFailureConditions", [])
    where = {"bindingConditions": good, "bindingFailureConditions": bad}
    for key, conditions in where.items():
        _lists.check_items(
            conditions,
            _MOST_BINDING,
            lambda item, here: _names.label_key(item, here, errors),
            path / key,
            late,
        )
    for key, conditions in where.items():
        _lists.unique(conditions, _lists.same, path / key, errors)
    for index, condition in enumerate(bad):
        if condition in good:
            text = "bindingFailureConditions must not overlap with bindingConditions"
            errors.invalid((path / "bindingFailureConditions")[index], condition, text)
    if bad and not good:
        text = "bindingConditions are required to use bindingFailureConditions"
        errors.invalid(path / "bindingConditions", None, text)
    if good and not bad:
        text = "bindingFailureConditions are required to use bindingConditions"
        errors.invalid(path / "bindingFailureConditions", None, text)


def _device(device: Object, allocated: set[str], path: Path, errors: Errors, late: Errors) -> None:
    _names.driver(device.get("driver", ""), path / "driver", errors)
    _names.pool(device.get("pool", ""), path / "pool", errors)
    _names.label(device.get("device", ""), path / "device", errors)
    if "shareID" in device:
        _names.uuid(device["shareID"], path / "shareID", late)
    if device_key(device) not in allocated:
        errors.invalid(path, _shown(device), "must be an allocated device in the claim")
    conditions = device.get("conditions", [])
    if len(conditions) > _MOST_CONDITIONS:
        errors.too_many(path / "conditions", len(conditions), _MOST_CONDITIONS)
    validate_conditions(conditions, path / "conditions", errors)
    if device.get("data") is not None:
        _claims.validate_raw(device["data"], path / "data", errors)
    if "networkData" in device:
        _network(device["networkData"], path / "networkData", errors, late)


def _network(data: Object, path: Path, errors: Errors, late: Errors) -> None:
    for key, limit in (("interfaceName", _LONGEST_INTERFACE), ("hardwareAddress", _LONGEST_HARDWARE)):
        if len(data.get(key, "").encode()) > limit:
            late.too_long(path / key, limit)

    def check(text: str, here: Path) -> None:
        problem = _address_problem(text)
        if problem:
            errors.invalid(here, text, problem)

    _lists.check_items(data.get("ips", []), _MOST_ADDRESSES, check, path / "ips", late)
    _lists.unique(data.get("ips", []), _lists.same, path / "ips", late)


def _address_problem(text: str) -> str:
    """Return what is wrong with the address of an interface, which keeps the bits after its prefix."""
    try:
        if "/" not in text:
            raise ValueError
        address = ipaddress.ip_interface(text)
    except ValueError:
        return "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"
    return "" if str(address) == text else f'must be in canonical form ("{address}")'
