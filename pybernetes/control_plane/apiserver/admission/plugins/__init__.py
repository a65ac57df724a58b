"""The admission plugins: one file or folder each, with a class that ``PLUGIN`` names.

``plugin`` says what such a class declares: its name, its place in the order, its flags, and the writes it is for.
"""
