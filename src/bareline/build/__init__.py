"""Native programs from their sources, once per toolchain."""
