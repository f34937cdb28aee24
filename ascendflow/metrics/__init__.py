"""Numbers that say how far a target is from its golden. Pure numpy, no files."""
