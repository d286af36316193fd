"""x"""


def chunk_document() -> None:
    """x"""
