"""YAML as upstream's programs write it: sorted, and texts that look like something else in double quotes."""

from __future__ import annotations

from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> Any:
    if "\n" in text:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|")
    plain = dumper.resolve(yaml.ScalarNode, text, (True, False)) == "tag:yaml.org,2002:str"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain and text else '"')


_Dumper.add_representer(str, _text)


def to_yaml(value: Any) -> str:
    """Return a document."""
    return yaml.dump(
        value, Dumper=_Dumper, sort_keys=True, default_flow_style=False, allow_unicode=True, width=1 << 30
    )


def documents(*values: Any) -> str:
    """Return several documents in one text."""
    return "---\n".join(to_yaml(value) for value in values)


def shown(configuration: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration as it is printed: without what is empty, but with what always stands there."""
    result = {name: value for name, value in configuration.items() if value not in (None, "", [], False)}
    if "nodeRegistration" in result:
        result["nodeRegistration"] = {"taints": None, **result["nodeRegistration"]}
    return result
