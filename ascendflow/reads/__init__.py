"""Which files, folders and distributions a stage's user code read.

What counts as an input and what does not: docs/user-code.md.
"""
