"""What a profiled application will do on another platform, how sure that is, and what costs it."""
