import pytest

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import resources

PATH = Path("x")


@pytest.mark.parametrize(
    ("name", "extended", "integer", "container", "quota"),
    [
        ("cpu", False, False, True, True),
        ("pods", False, True, False, True),
        ("hugepages-2Mi", False, False, True, True),
        ("requests.cpu", False, False, False, True),
        ("storage", False, False, False, False),
        ("example.com/gpu", True, True, True, True),
        ("kubernetes.io/batteries", False, False, True, True),
        ("requests.example.com/gpu", False, False, False, True),
        ("unknown", False, False, False, False),
        ("a b", False, False, False, False),
    ],
)
def test_names(name: str, extended: bool, integer: bool, container: bool, quota: bool) -> None:
    assert resources.is_extended(name) is extended
    assert resources.is_integer(name) is integer
    for check, fine in (
        (resources.container_resource_name, container),
        (resources.quota_resource_name, quota),
    ):
        errors = Errors()
        check(name, PATH, errors)
        assert (errors == []) is fine, (check.__name__, errors)


def test_quantities() -> None:
    errors = Errors()
    resources.quantity_value("cpu", "-1", PATH, errors)
    resources.quantity_value("example.com/gpu", "500m", PATH, errors)
    resources.quantity_value("cpu", "500m", PATH, errors)
    assert [str(error) for error in errors] == [
        'x: Invalid value: "-1": must be greater than or equal to 0',
        'x: Invalid value: "500m": must be an integer',
    ]
