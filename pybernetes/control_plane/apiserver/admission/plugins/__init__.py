"""The admission plugins: one file each, with a class that ``PLUGIN`` names.

A plugin is made with the server's parts and its own part of the configuration file, or None.
"""
