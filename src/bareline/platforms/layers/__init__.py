"""What can be laid between an application and any machine: an option of several platform types."""
