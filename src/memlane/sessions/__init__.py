"""Sessions: what their keys say, their transcripts, and the life cycle of memory around them."""
