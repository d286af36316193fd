"""Transcripts and the session store, in the platform's own formats: read, written, and made ready for search.

names     where they lie, and what a file name says
lines     a transcript as entries, one line at a time
folder    one writer at a time
append    writing one: entries in a chain, never torn
store     sessions.json
keys      what a session key says of a conversation
gate      what a session may load, find, read and write
scope     the rules of `session.sendPolicy`
sanitize  secrets masked before anything is derived from a text
turns     what was said, without what only the machinery needs
chunks    neighbouring turns as passages                                                                pure
tree      which transcripts are searched
marks     how far one has been read
listing   which sessions there are
read      what was said, for a reader
redact    taking something out of one, because its owner says so
"""
