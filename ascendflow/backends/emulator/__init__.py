"""The emulator: an ONNX graph that computes what CANN is known to compute."""
