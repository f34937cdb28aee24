"""A stage's child process: how it is called, and what it does around the stage."""
