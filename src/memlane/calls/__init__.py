"""The calls of `Memory`, each subject in a module of its own. `memory` joins them and adds its own.

rooms       what they share: the settings, and the rooms as they are opened
upkeep      sync, plan, start, status, batches, doctor
sessions    sessions, transcript, export_session
forgetting  forget, forgotten, unforget
"""
