"""Resource quotas and limit ranges: what an object counts for, and whether a namespace has room for it.

``evaluators`` finds the evaluator of a resource, ``decide`` judges a write against the quotas of a namespace,
``usage`` adds up what a namespace uses. Admission charges with the second, the controller corrects with the third.
``limit_ranges`` bounds what single containers, pods and claims ask for.
"""
