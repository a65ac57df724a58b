"""One file per verb; a folder is a verb with verbs of its own. Only the file of the verb that is asked for is imported.

Each has ``SUMMARY``, ``USAGE``, ``FLAGS`` (texts, see flags.py) and ``run(context)``.
"""
