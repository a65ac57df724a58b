import pytest

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import addresses

PATH = Path("x")


@pytest.mark.parametrize(
    ("text", "parsed", "problem", "warning"),
    [
        ("1.2.3.4", "1.2.3.4", "", ""),
        ("fd00::1", "fd00::1", "", ""),
        ("01.2.3.4", "1.2.3.4", "must not have leading 0s", 'is invalid: use "1.2.3.4"'),
        ("::ffff:1.2.3.4", "1.2.3.4", "must not be an IPv4-mapped IPv6 address", 'is invalid: use "1.2.3.4"'),
        ("FD00::1", "fd00::1", "", 'canonical format ("fd00::1")'),
        ("fe80::1%eth0", "None", "must be a valid IP address", ""),
        ("1.2.3", "None", "must be a valid IP address", ""),
        ("", "None", "must be a valid IP address", ""),
    ],
)
def test_addresses(text: str, parsed: str, problem: str, warning: str) -> None:
    assert str(addresses.parse_sloppy(text)) == parsed
    errors = Errors()
    addresses.legacy_ip(text, PATH, errors)
    assert bool(errors) is bool(problem) and all(problem in str(error) for error in errors)
    warnings = addresses.ip_warnings(text, PATH)
    assert bool(warnings) is bool(warning) and all(warning in text for text in warnings)


def test_what_was_there_stays() -> None:
    errors = Errors()
    addresses.legacy_ip("01.2.3.4", PATH, errors, ["01.2.3.4"])
    addresses.legacy_cidr("1.2.3.4/8", PATH, errors, ["1.2.3.4/8"])
    assert errors == []


@pytest.mark.parametrize(
    ("text", "problem", "strict"),
    [
        ("10.0.0.0/8", "", ""),
        ("10.0.0.1/8", "must not have bits set beyond the prefix length", ""),
        ("10.0.0.0/08", "must not have leading 0s in IP or prefix length", ""),
        ("::ffff:10.0.0.0/104", "must not have an IPv4-mapped IPv6 address", ""),
        ("FD00::/8", "", 'must be in canonical form ("fd00::/8")'),
        ("10.0.0.0", "must be a valid CIDR value", ""),
        ("10.0.0.0/33", "must be a valid CIDR value", ""),
        ("10.0.0.0/+8", "must be a valid CIDR value", ""),
    ],
)
def test_cidrs(text: str, problem: str, strict: str) -> None:
    errors, strictly = Errors(), Errors()
    addresses.legacy_cidr(text, PATH, errors)
    addresses.strict_cidr(text, PATH, strictly)
    assert bool(errors) is bool(problem) and all(problem in str(error) for error in errors)
    wanted = problem or strict
    assert bool(strictly) is bool(wanted) and all(wanted in str(error) for error in strictly)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("10.0.0.1", ""),
        ("0.0.0.0", "unspecified (0.0.0.0)"),
        ("::1", "loopback"),
        ("169.254.0.1", "link-local range"),
        ("224.0.0.1", "link-local multicast"),
        ("ff02::1", "link-local multicast"),
        ("239.0.0.1", ""),
        ("x", "must be a valid IP address"),
    ],
)
def test_ends_of_connections(text: str, problem: str) -> None:
    errors = Errors()
    addresses.endpoint_ip(text, PATH, errors)
    assert bool(errors) is bool(problem) and all(problem in str(error) for error in errors)
