"""Discovery: the documents from which clients learn what is served."""
