"""Selectors as Go prints them."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.api.text.printed_selector import printed


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({}, "MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},"),
        (
            {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": None},
            "MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},",
        ),
        (
            {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v", "w"]}, {"key": "e", "operator": "Exists"}]},
            "MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{"
            "LabelSelectorRequirement{Key:k,Operator:In,Values:[v w],},LabelSelectorRequirement{Key:e,Operator:Exists,Values:[],},},",
        ),
    ],
)  # fmt: skip
def test_printed(selector: dict[str, Any], text: str) -> None:
    assert printed(selector) == f"&LabelSelector{{{text}}}"
