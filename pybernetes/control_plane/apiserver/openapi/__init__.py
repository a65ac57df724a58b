"""OpenAPI: what every path takes and gives, in version 3 (a document for each group version) and version 2."""
