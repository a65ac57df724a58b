"""How a webhook is reached, by a URL or a service of the cluster, and which versions of reviews it understands."""

from __future__ import annotations

from urllib.parse import urlsplit

from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, names

REVIEW_VERSIONS = ("v1", "v1beta1")
_FORM = "; desired format: https://host[/path]"


def review_versions(versions: list[str], path: Path, errors: Errors) -> None:
    """Check the versions of reviews that a webhook understands: one of them must be one that is sent."""
    repeated = set(checks.repetitions(versions))
    for index, version in enumerate(versions):
        if index in repeated:
            errors.invalid(path[index], version, "duplicate version")
            continue
        checks.name(names.dns1035_label, version, path[index], errors)
    if not any(version in REVIEW_VERSIONS for version in versions):
        errors.invalid(path, versions, f"must include at least one of {', '.join(REVIEW_VERSIONS)}")


def client_config(config: Object, path: Path, errors: Errors, *, swapped: bool = False) -> None:
    """Check that there is exactly one of both, and that it can be reached.

    ``swapped``: admission webhooks complain about the name of the service where its namespace is missing,
    and the other way round.
    """
    if ("url" in config) == ("service" in config):
        errors.required(path, "exactly one of url or service is required")
    elif "url" in config:
        url(config["url"], path / "url", errors)
    else:
        service(config["service"], path / "service", errors, swapped=swapped)


def url(text: str, path: Path, errors: Errors) -> None:
    """Check the URL of a webhook."""
    problem = ""
    parts = None
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        problem = str(error)
    if parts is None or problem:
        errors.required(path, f"url must be a valid URL: parse {go_format.quote(text)}: {problem}{_FORM}")
        return
    if parts.scheme != "https":
        errors.invalid(path, parts.scheme, "'https' is the only allowed URL scheme" + _FORM)
    user, at, host = parts.netloc.rpartition("@")
    if not host:
        errors.invalid(path, host, "host must be specified" + _FORM)
    if at:
        errors.invalid(path, user, "user information is not permitted in the URL")
    if parts.fragment:
        errors.invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        errors.invalid(path, parts.query, "query parameters are not permitted in the URL")


def service(reference: Object, path: Path, errors: Errors, *, swapped: bool = False) -> None:
    """Check the reference to the service of a webhook."""
    fields = ("namespace", "name") if swapped else ("name", "namespace")
    for field, shown in zip(fields, ("name", "namespace"), strict=True):
        if not reference.get(field):
            errors.required(path / shown)
    port = reference.get("port", 0)
    problems = names.port_number(port)
    if problems:
        errors.invalid(path / "port", port, "port is not valid: " + ", ".join(problems))
    if "path" in reference:
        _url_path(reference["path"], path / "path", errors)


def _url_path(text: str, path: Path, errors: Errors) -> None:
    if text in ("", "/"):
        return
    if text == "//":
        errors.invalid(path, text, "segment[0] may not be empty")
        return
    if not text.startswith("/"):
        errors.invalid(path, text, "must start with a '/'")
    for index, step in enumerate(text[1:].removesuffix("/").split("/")):
        if not step:
            errors.invalid(path, text, f"segment[{index}] may not be empty")
        for problem in names.dns_subdomain(step) if step else ():
            errors.invalid(path, text, f"segment[{index}]: {problem}")
