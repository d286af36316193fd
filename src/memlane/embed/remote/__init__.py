"""Providers that are reached over HTTP: one client, one table of dialects, one way to retry."""

from __future__ import annotations
