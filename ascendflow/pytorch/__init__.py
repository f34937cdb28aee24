"""The user's PyTorch model: built, given its weights, run and exported."""
