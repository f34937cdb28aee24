"""What the files of an ONNX artifact are called."""

MODEL_FILE = "model.onnx"
DATA_FILE = "model.onnx.data"
"""Weights, where they lie beside the graph."""
