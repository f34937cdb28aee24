"""What stops a job without being a fault of the worker."""


class RefusedError(Exception):
    """What is wrong, said for people."""
