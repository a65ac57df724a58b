"""Resource lists: quantities by the name of a resource, as objects carry them, and arithmetic on them.

The results keep the format of what went into them, because people see them in messages and in statuses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pybernetes.api import quantity

ResourceList = dict[str, str]
Amounts = Mapping[str, str]


def add(left: Amounts, right: Amounts) -> ResourceList:
    """Return the sum of two lists."""
    total = dict(left)
    add_to(total, right)
    return total


def add_to(total: ResourceList, more: Amounts) -> None:
    """Add a list to another in place."""
    for name, amount in more.items():
        total[name] = quantity.add(total[name], amount) if name in total else amount


def raise_to(total: ResourceList, more: Amounts) -> None:
    """Raise a list in place to the greater of two amounts of each resource."""
    for name, amount in more.items():
        if name not in total or quantity.parse(amount) > quantity.parse(total[name]):
            total[name] = amount


def maximum(lists: Iterable[Amounts]) -> ResourceList:
    """Return the greatest amount of each resource."""
    total: ResourceList = {}
    for amounts in lists:
        raise_to(total, amounts)
    return total


def grown(new: Amounts, old: Amounts) -> ResourceList:
    """Return what one list has more than another; a resource of which there is less counts zero."""
    result: ResourceList = {}
    for name, amount in new.items():
        more = quantity.subtract(amount, old[name]) if name in old else amount
        result[name] = more if quantity.parse(more) > 0 else "0"
    for name in old:
        result.setdefault(name, "0")
    return result


def mask(amounts: Amounts, names: Collection[str]) -> ResourceList:
    """Return the part of a list that has these names."""
    return {name: amount for name, amount in amounts.items() if name in names}


def nonzero(amounts: Amounts) -> ResourceList:
    """Return the list without what is zero."""
    return {name: amount for name, amount in amounts.items() if amount != "0" and quantity.parse(amount)}


def negative(amounts: Amounts) -> list[str]:
    """Return the names of what is below zero."""
    return sorted(name for name, amount in amounts.items() if amount[:1] == "-" and quantity.parse(amount))


def exceeding(amounts: Amounts, most: Amounts) -> list[str]:
    """Return the names of what is above its limit."""
    return sorted(
        name
        for name, amount in amounts.items()
        if name in most and quantity.parse(amount) > quantity.parse(most[name])
    )


def equal(left: Amounts, right: Amounts) -> bool:
    """Return whether two lists hold the same amounts, however they are written."""
    return left.keys() == right.keys() and all(
        amount == right[name] or quantity.parse(amount) == quantity.parse(right[name])
        for name, amount in left.items()
    )


def text(amounts: Amounts) -> str:
    """Return the list as messages show it: ``cpu=1,pods=2``."""
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts))
