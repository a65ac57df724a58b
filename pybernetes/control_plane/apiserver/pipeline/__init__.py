"""The way of a request: its steps from top to bottom, then the router that finds who answers.

``pipeline`` has the list of steps, which are in ``steps``, one file each; ``step`` is their call shape; ``failures`` turns
errors into answers; ``router`` finds the verb, ``own_paths`` answers what is no resource.
"""
