"""Custom resources: kinds that come and go with their CustomResourceDefinitions.

``controller`` follows the definitions in the store, ``served`` turns one into kinds, discovery and OpenAPI,
``kind`` reads stored objects through the schema of now, ``cleanup`` ends the objects of a deleted definition.
"""

from pybernetes.control_plane.apiserver.custom_resources.custom_resources import CustomResources

__all__ = ["CustomResources"]
