"""How long transcripts take to be indexed, and how much memory."""
