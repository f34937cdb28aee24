"""ascendflow: PyTorch models to Huawei Ascend OM files, cached and gated."""

__version__ = "0.1.0"

__all__ = ["__version__"]
