"""The real toolchain: ATC makes the OM, and what the device computed is read."""
