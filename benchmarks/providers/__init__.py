"""How well a slow remote provider is used: requests, waiting, and what is paid twice."""
