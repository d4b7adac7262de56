"""Stress and tests of connections, each as a process of its own: ``python -m greenroom.workloads NAME SPEC``.

SPEC is a JSON object; what happens comes back as JSON lines on standard output. Only here is PyTorch
imported, and only in that process.
"""
