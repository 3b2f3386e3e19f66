"""The build of the native programs from their sources, once per toolchain."""
