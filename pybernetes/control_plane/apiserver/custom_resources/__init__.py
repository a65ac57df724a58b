"""Custom resources: kinds that come and go with their CustomResourceDefinitions.

``custom_resources`` follows the definitions in the store, ``served_definition`` turns one into kinds, discovery and
OpenAPI, ``custom_kind`` reads stored objects through the schema of now, ``cleanup`` ends the objects of a deleted
definition.
"""
