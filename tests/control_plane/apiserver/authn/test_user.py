import pytest

from pybernetes.control_plane.apiserver.authn.user import (
    AUTHENTICATED,
    UNAUTHENTICATED,
    User,
    authenticated,
    service_account_groups,
    service_account_name,
    split_service_account,
)


@pytest.mark.parametrize(
    ("name", "groups", "expected"),
    [
        ("bob", (), (AUTHENTICATED,)),
        ("bob", ("a",), ("a", AUTHENTICATED)),
        ("bob", (AUTHENTICATED, "a"), (AUTHENTICATED, "a")),
        ("bob", (UNAUTHENTICATED,), (UNAUTHENTICATED,)),
        ("system:anonymous", ("a",), ("a",)),
    ],
)
def test_everyone_known_is_authenticated(
    name: str, groups: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert authenticated(name, groups=groups).groups == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("system:serviceaccount:default:robot", ("default", "robot")),
        ("system:serviceaccount:default:a.b", ("default", "a.b")),
        ("system:serviceaccount:default:", None),
        ("system:serviceaccount::robot", None),
        ("system:serviceaccount:default", None),
        ("system:serviceaccount:default:a:b", None),
        ("system:serviceaccount:De:robot", None),
        ("system:serviceaccount:a.b:robot", None),
        ("system:serviceaccounts:default:robot", None),
        ("bob", None),
    ],
)
def test_names_of_service_accounts(name: str, expected: tuple[str, str] | None) -> None:
    assert split_service_account(name) == expected
    if expected is not None:
        assert service_account_name(*expected) == name
        assert service_account_groups(expected[0])[1] == f"system:serviceaccounts:{expected[0]}"


def test_what_is_empty_is_not_shown() -> None:
    assert User("bob").info() == {"username": "bob"}
    full = User("bob", "1", ("a",), {"k": ("v", "w")})
    assert full.info() == {"username": "bob", "uid": "1", "groups": ["a"], "extra": {"k": ["v", "w"]}}
