"""Fuzzers of everything that reads what others send: ``pyb fuzz``, and a short run of each in the gate.

``targets/`` has a file for each thing that is fuzzed, ``engine/`` mutates and judges, ``server/`` attacks a running API
server. Seeds and inputs that once failed are in ``tests/fuzz/corpus/``, a folder for each target.
"""
