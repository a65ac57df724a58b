"""JSONPath as client-go understands it, for ``kubectl -o jsonpath`` and for the printer columns of custom resources.

``parser`` reads a template, ``nodes`` are its parts and what each selects, ``template`` runs it on a value.
"""
