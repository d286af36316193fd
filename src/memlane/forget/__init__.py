"""Forgetting: what would go is looked for and planned first; then it is done, and a receipt tells what went.

plan      what a request is about, and what goes for it           pure
look      what notes and transcripts hold of it
sweep     files of Memlane's own that hold it, and proof that none does
act       doing it
"""
