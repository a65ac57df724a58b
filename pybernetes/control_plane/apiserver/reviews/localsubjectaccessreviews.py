"""LocalSubjectAccessReview: may this user do that in this namespace?"""

from pybernetes.control_plane.apiserver.reviews.subjectaccessreviews import handle

__all__ = ["handle"]
