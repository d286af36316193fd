"""Search backends: the built-in index, behind the protocol that others implement too."""
