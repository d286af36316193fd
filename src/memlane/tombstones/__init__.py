"""What is forgotten: known by digests alone, so that nothing brings it back and nothing says what it was."""
