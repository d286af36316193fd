"""Staying fresh: how fast changes are found, how processes get along, and whether anything grows."""
