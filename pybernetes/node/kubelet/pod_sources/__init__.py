"""Where pods come from.

The API server, files, a URL; and the mirror pods of those that the API server did not know.
"""
