"""CEL: expressions of validation rules and policies.

``engine`` is what the rest uses. Behind it: ``syntax`` and ``macros`` make a ``tree``, ``types`` and ``checker`` find the type
of every part, ``evaluate`` and ``loops`` turn it into functions, ``cost`` counts while they run and ``estimate`` before they
do, ``library/`` has the functions, ``values`` says what expressions see of a schema.
"""
