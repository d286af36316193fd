from tests.sessions.lives import hands, live, store

__all__ = ["hands", "live", "store"]
