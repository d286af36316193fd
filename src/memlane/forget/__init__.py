"""Forgetting: what would go is looked for and planned first; then it is done, and a receipt tells what went.

plan      what a request is about, and what goes for it           pure
look      what notes and transcripts hold of it
sweep     files of Memlane's own that hold it, and proof that none does
act       doing it
hide      not showing what notes still hold of it

Each room takes it out of what is its own: `workspace.remove` out of notes, `transcripts.redact` out of
transcripts, `index.erase` out of an index file, `backends.forgetting` out of all that is derived. What is
forgotten, so that whoever reads passes over it, is in `tombstones`.
"""
