"""What recall before a turn adds: how often it is right, and how often it had better been silent."""
