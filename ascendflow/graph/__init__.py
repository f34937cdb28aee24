"""Reads, runs and edits ONNX."""
