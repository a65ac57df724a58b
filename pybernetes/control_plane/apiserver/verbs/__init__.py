"""What can be done with objects: one file per verb.

A verb gets the shared parts, the request and the kind, and gives an answer or an awaitable of one.
"""
