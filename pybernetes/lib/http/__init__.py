"""HTTP/1.1: the one server and the one client of this project. It knows nothing of Kubernetes."""
