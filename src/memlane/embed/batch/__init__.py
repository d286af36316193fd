"""Embedding through batch jobs: a provider works through a file of texts in its own time, for less money.

A job is a way of filling the embedding cache. `fill` decides which texts become jobs and which jobs are
waited for, `driver` takes one job through a provider's interface, `ledger` remembers the jobs on disk so that
no text is paid twice, and the protocols (`openai`, `voyage`, `gemini`) build requests and read answers
without doing any input or output.
"""
