"""The container layer: two platforms may differ in nothing but their container runtime."""
