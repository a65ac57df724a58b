"""Names: each function returns what is wrong with a name, an empty list if it is valid.

The texts are Kubernetes' own, since clients show and match them.
"""

from __future__ import annotations

import ipaddress
import re

from pybernetes.lib.memory.bounded_cache import bounded_cache

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_C_IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]*"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
_PORT_CHARS = re.compile("^[-a-z0-9]+$")
_ALPHA = re.compile("[a-z]")

_label, _subdomain, _dns1035, _qualified, _value, _identifier, _config_key = (
    re.compile(f"(?:{pattern})\\Z")
    for pattern in (_LABEL, _SUBDOMAIN, _DNS1035, _QUALIFIED, _VALUE, _C_IDENTIFIER, _CONFIG_KEY)
)


def max_length(limit: int, unit: str = "characters") -> str:
    """Return the complaint about a text that is too long; labels and their keys count in bytes."""
    return f"must be no more than {limit} {unit}"


def regex(message: str, pattern: str, *examples: str) -> str:
    """Return the complaint about a text that does not match."""
    if not examples:
        return f"{message} (regex used for validation is '{pattern}')"
    listed = " or ".join(f"'{example}', " for example in examples)
    return f"{message} (e.g. {listed}regex used for validation is '{pattern}')"


_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_DNS1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character"
)
_QUALIFIED_TEXT = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character"
)


@bounded_cache()
def _dns_label(name: str) -> tuple[str, ...]:
    problems = []
    if len(name.encode()) > 63:
        problems.append(max_length(63))
    if not _label.match(name):
        if _subdomain.match(name):
            problems.append("must not contain dots")
        else:
            problems.append(regex(_LABEL_TEXT, _LABEL, "my-name", "123-abc"))
    return tuple(problems)


def dns_label(name: str) -> list[str]:
    """Return what is wrong with an RFC 1123 label: most names inside an object, namespaces."""
    return list(_dns_label(name))


def dns_subdomain(name: str) -> list[str]:
    """Return what is wrong with an RFC 1123 subdomain: the names of most objects, too different to remember."""
    problems = []
    if len(name.encode()) > 253:
        problems.append(max_length(253))
    if not _subdomain.match(name):
        problems.append(regex(_SUBDOMAIN_TEXT, _SUBDOMAIN, "example.com"))
    return problems


def dns1035_label(name: str) -> list[str]:
    """Return what is wrong with an RFC 1035 label: the names of services."""
    problems = []
    if len(name.encode()) > 63:
        problems.append(max_length(63))
    if not _dns1035.match(name):
        problems.append(regex(_DNS1035_TEXT, _DNS1035, "my-name", "abc-123"))
    return problems


def wildcard_subdomain(name: str) -> list[str]:
    """Return what is wrong with a subdomain that starts with ``*.``."""
    problems = []
    pattern = rf"\*\.{_SUBDOMAIN}"
    if len(name.encode()) > 253:
        problems.append(max_length(253))
    if not re.match(f"(?:{pattern})\\Z", name):
        text = (
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
            "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character"
        )
        problems.append(regex(text, pattern, "*.example.com"))
    return problems


def path_segment(name: str) -> list[str]:
    """Return what is wrong with a name that may be anything that fits into a URL path (RBAC roles, for one)."""
    if name in (".", ".."):
        return [f"may not be '{name}'"]
    return [f"may not contain '{char}'" for char in "/%" if char in name]


@bounded_cache()
def _qualified_name(name: str) -> tuple[str, ...]:
    problems = []
    prefix, slash, last = name.rpartition("/")
    if slash:
        if "/" in prefix:
            return (
                "a valid label key " + regex(_QUALIFIED_TEXT, _QUALIFIED, "MyName", "my.name", "123-abc")
                + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
            )  # fmt: skip
        if not prefix:
            problems.append("prefix part must be non-empty")
        else:
            too_long = max_length(253), max_length(253, "bytes")
            problems += ["prefix part " + problem.replace(*too_long) for problem in dns_subdomain(prefix)]
    if not last:
        problems.append("name part must be non-empty")
    elif len(last.encode()) > 63:
        problems.append("name part " + max_length(63, "bytes"))
    if not _qualified.match(last):
        problems.append("name part " + regex(_QUALIFIED_TEXT, _QUALIFIED, "MyName", "my.name", "123-abc"))
    return tuple(problems)


def qualified_name(name: str) -> list[str]:
    """Return what is wrong with a label key: an optional subdomain and a slash, then a name."""
    return list(_qualified_name(name))


@bounded_cache()
def _label_value(value: str) -> tuple[str, ...]:
    problems = []
    if len(value.encode()) > 63:
        problems.append(max_length(63, "bytes"))
    if not _value.match(value):
        problems.append(regex(_VALUE_TEXT, _VALUE, "MyValue", "my_value", "12345"))
    return tuple(problems)


def label_value(value: str) -> list[str]:
    """Return what is wrong with a label's value."""
    return list(_label_value(value))


def env_var_name(name: str) -> list[str]:
    """Return what is wrong with the name of an environment variable: printable ASCII but ``=``, since v1.34."""
    if not name or not all(0x20 <= ord(char) <= 0x7E and char != "=" for char in name):
        return [
            "a valid environment variable name must consist only of printable ASCII characters other than '='"
        ]
    return []


def c_identifier(name: str) -> list[str]:
    """Return what is wrong with a C identifier."""
    if _identifier.match(name):
        return []
    text = (
        "a valid C identifier must start with alphabetic character or '_', "
        "followed by a string of alphanumeric characters or '_'"
    )
    return [regex(text, _C_IDENTIFIER, "my_name", "MY_NAME", "MyName")]


def config_map_key(key: str) -> list[str]:
    """Return what is wrong with a key of a config map or secret."""
    problems = []
    if len(key.encode()) > 253:
        problems.append(max_length(253))
    if not _config_key.match(key):
        text = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'"
        problems.append(regex(text, _CONFIG_KEY, "key.name", "KEY_NAME", "key-name"))
    if key == ".":
        problems.append("must not be '.'")
    elif key == "..":
        problems.append("must not be '..'")
    elif key.startswith(".."):
        problems.append("must not start with '..'")
    return problems


def port_number(port: int) -> list[str]:
    """Return what is wrong with a port, which is from 1 to 65535."""
    return [] if 1 <= port <= 65535 else ["must be between 1 and 65535, inclusive"]


def port_name(name: str) -> list[str]:
    """Return what is wrong with the name of a port (an IANA service name)."""
    problems = []
    if len(name) > 15:
        problems.append("must be no more than 15 characters")
    if not _PORT_CHARS.match(name):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _ALPHA.search(name):
        problems.append("must contain at least one letter (a-z)")
    if "--" in name:
        problems.append("must not contain consecutive hyphens")
    if name and (name[0] == "-" or name[-1] == "-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def ip_address(text: str) -> list[str]:
    """Return what is wrong with an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]
    return []
