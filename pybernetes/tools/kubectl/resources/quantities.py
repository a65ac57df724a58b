"""Lists of resource=quantity pairs on the command line."""

from __future__ import annotations

from pybernetes.tools.kubectl.errors import CommandError


def parse_list(text: str, word: str = "Invalid") -> dict[str, str]:
    """Return quantities by resource, in the API's canonical form, sorted; ``word`` begins a complaint."""
    from pybernetes.api.quantity import QuantityError, canonical

    quantities: dict[str, str] = {}
    for statement in text.split(","):
        parts = statement.split("=")
        if len(parts) != 2:
            raise CommandError(f"{word} argument syntax {statement}, expected <resource>=<value>")
        try:
            quantities[parts[0]] = canonical(parts[1])
        except QuantityError:
            raise CommandError(
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            ) from None
    return dict(sorted(quantities.items()))
