"""LocalSubjectAccessReview: may this user do that in this namespace?"""

from pybernetes.control_plane.apiserver.virtual_resources.subjectaccessreviews import handle

__all__ = ["handle"]
