"""What the user asked for: reading, checking and cutting up a manifest."""
