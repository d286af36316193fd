"""Sessions: the life cycle of memory around a conversation.

chat           what a chat model is to Memlane: messages, tools, a stream
silence        answers that are delivered to nobody                                                     pure
decision       whether memory is to be flushed; how full a context is                                   pure
additions      what of a model's text is new to a day's log                                             pure
compaction     where a conversation is cut, and how a context is put together                           pure
prompts        what the model is told                                                                   pure
exchange       one turn of a model with tools, within bounds
recall         the few memories that a message calls for
flush          the silent turn before context is lost
unsaved        what a flush could not save, on disk
record         a conversation's transcript and store entry, as messages
keeping        flush and compaction of one session, failures bounded, all recorded
life           the life cycle, for agents with a loop of their own
agent          a small agent: turns with tools, on record however they end
agent_library  a chat model of the agent library
models         which chat model is meant, and making it
python_model   one that is an object in Python
hooks          the hooks of a coding agent
hook_settings  getting them into its settings
"""
