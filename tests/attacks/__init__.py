"""Attacks from outside on any checkout: what gets through is told, so that a state before a mend can be held against one after.

    python -m tests.attacks PYB [--only WORDS]

``PYB`` is the launcher of the checkout that is attacked. Each file but those with an underscore has ``ATTACKS`` by name: a
function that gets a ``Target`` and returns what got through, or an empty text if all held.
"""
