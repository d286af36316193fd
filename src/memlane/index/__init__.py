"""The index: analysis, storage, planning and syncing. Derived data, rebuilt at any time."""
