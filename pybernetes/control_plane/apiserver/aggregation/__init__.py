"""The API servers behind this one: APIService objects say which groups they serve.

``registration`` writes the objects of what this server serves itself, ``availability`` decides whether another
server can be reached, ``aggregator`` follows the objects and asks the servers, ``documents`` reads what they say
about themselves, ``proxy`` passes requests on to them.
"""
