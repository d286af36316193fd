"""What is left when the process is killed at any moment."""
