"""What is forgotten: known by digests alone, so that nothing brings it back and nothing says what it was.

values    a tombstone, and the digest of what it stands for       pure
match     what is forgotten in a text                             pure
entries   how far a forgotten place of a note reaches             pure
ledger    the file of an agent's tombstones
"""
