"""The pod security standards: which pods a namespace's labels let in.

``policy`` reads the labels, ``evaluate`` judges a pod at a level and version of the standards, by the checks in
``checks``.
"""
