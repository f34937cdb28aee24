"""What is installed on a machine, what of it fits together, and what to do."""
