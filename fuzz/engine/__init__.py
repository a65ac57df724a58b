"""Mutates seeds, runs targets on the result, and judges: exceptions, processor time, memory. Nothing of Kubernetes."""
