"""Surfaces: where people and programs meet memory. Thin: what they show is made beneath them."""
