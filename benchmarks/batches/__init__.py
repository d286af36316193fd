"""Batch jobs through interfaces on the loopback, with kills and refused rows."""
