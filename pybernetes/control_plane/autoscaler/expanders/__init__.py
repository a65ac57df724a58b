"""Expanders: which of several ways to make room is taken. A file each, found by ``registry``.

Each has ``SUMMARY`` and ``async best(options, context) -> options``; several are asked one after the other until one option
is left, and chance decides among those that remain.
"""
