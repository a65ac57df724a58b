"""CEL: expressions of validation rules and policies.

``engine`` is what the rest uses. Behind it: ``syntax`` and ``macros`` parse, ``types`` and ``checker`` find the type
of every part, ``evaluate`` turns the tree into functions, ``cost`` counts while they run and ``estimate`` before they
do, ``library/`` has the functions, ``values`` says what expressions see of a schema.
"""
