"""Who an address belongs to, and which headers let somebody in: what keys must not be mixed up about."""

from __future__ import annotations

Server = tuple[str, str, int | None]
"""Scheme, host and port: what must be the same for a key to be sent."""

_PORTS = {"http": 80, "https": 443}


def server_of(url: str | None) -> Server:
    """The server of an address; that of none has an empty host and equals no other."""
    from urllib.parse import urlsplit

    parts = urlsplit(url or "")
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(scheme)


def host_of(url: str) -> str:
    """The host of an address, for people, with its port where that is not the usual one."""
    scheme, host, port = server_of(url)
    host = f"[{host}]" if ":" in host else host
    return host if port == _PORTS.get(scheme) else f"{host}:{port}"


def is_secret(header: str) -> bool:
    """Whether a header's name says that its value lets somebody in."""
    words = ("auth", "key", "token", "secret", "cookie", "password", "credential", "session", "signature")
    return any(word in header.lower() for word in words)
