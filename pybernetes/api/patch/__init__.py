"""The three patches that are pure functions of a document: JSON patch, merge patch, strategic merge patch.

None changes what it is given; the result may share parts with it. A patch that does not fit the document
raises the ``StatusError`` that a client of Kubernetes gets for it.
"""
