"""The same command lines through our kubectl and through an original, with what each of them asks the server."""
