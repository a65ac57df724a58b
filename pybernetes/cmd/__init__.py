"""One small entry file per program; `pyb` is all of them in one.

The file kube_apiserver.py is the program kube-apiserver. It has a SUMMARY, one line for the list of
programs, and main(argv) -> exit code. Imports that take time belong inside main.
"""
