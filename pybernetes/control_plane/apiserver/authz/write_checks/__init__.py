"""Writes that are judged by what they grant or point to: one file each, with a function ``write_checks``.

A check is called by every create and update of its kind with the request, the new and the old object: ``before``
after the plugins that change objects and before validation, ``after`` when the object was found valid.
"""
