"""Pictures and sounds among the extra paths: by name, and by what their first bytes say. Pure.

The table of signatures is our own. Of the libraries, `filetype` (last released in 2022) takes an M4A file of
most phones for a video and knows no MP3 with checksums; `puremagic` takes every M4A for a video, and neither
MP3 with tags nor HEIF for anything; each would need most of this table as corrections, and 25 ms to import.
"""

from __future__ import annotations

from ..values import Modality, Value

SUFFIXES: dict[Modality, tuple[str, ...]] = {
    "image": (".jpg", ".jpeg", ".png", ".webp", ".gif", ".heic", ".heif"),
    "audio": (".mp3", ".wav", ".ogg", ".opus", ".m4a", ".aac", ".flac"),
}
MODALITY_WORDS: dict[Modality, str] = {"image": "an image", "audio": "an audio file"}
HEAD_BYTES = 512
"""How much of a file's beginning `mime_type` looks at."""

_SIGNATURES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"fLaC", "audio/flac"),
)
_RIFF_FORMS = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"})
_HEIF_BRANDS = frozenset({b"mif1", b"msf1", b"heif"})
_AVIF_BRANDS = frozenset({b"avif", b"avis"})
_OGG_VIDEO = b"\x80theora"
_TAG = b"ID3"
_TAG_HEADER_BYTES = 10


class MediaRules(Value, frozen=True):
    """Which pictures and sounds under the extra paths count: `memorySearch.multimodal`."""

    modalities: tuple[Modality, ...]
    max_bytes: int
    """Of one file; larger ones are passed over."""

    def modality_of(self, name: str) -> Modality | None:
        """What a file is by the ending of its name, in any case; None where that does not count."""
        found = modality_by_name(name)
        return found if found in self.modalities else None


def modality_by_name(name: str) -> Modality | None:
    """Whether the ending of a name is that of an image or of an audio file."""
    lowered = name[-5:].lower()
    return next((kind for kind, suffixes in SUFFIXES.items() if lowered.endswith(suffixes)), None)


def media_text(modality: Modality, path: str) -> str:
    """What stands for a picture or a sound in the index: it is shown, searched by keyword, and embedded."""
    return f"{modality.capitalize()} file: {path}"


def tag_length(head: bytes) -> int:
    """The bytes of an ID3v2 tag at the beginning of a sound, which the sound follows; 0 where there is none.

    Its size stands in four bytes of seven bits each (id3.org, ID3v2.4 § 3.1).
    """
    if head[:3] != _TAG or len(head) < _TAG_HEADER_BYTES:
        return 0
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte & 0x7F
    return _TAG_HEADER_BYTES + size


def mime_type(head: bytes, name: str) -> str:
    """The media type of a file by its first bytes; empty where they are none of what `SUFFIXES` stands for.

    The name tells only whether an MPEG-4 container holds a sound, of which its first bytes say nothing.
    """
    for signature, found in _SIGNATURES:
        if head.startswith(signature):
            return found
    if head[:4] == b"RIFF":
        return _RIFF_FORMS.get(head[8:12], "")
    if head[:4] == b"OggS":
        return "" if _OGG_VIDEO in head else "audio/ogg"
    if head[4:8] == b"ftyp":
        return _boxed_type(head, name)
    if head[:3] == _TAG:
        return "audio/mpeg"
    return _framed_type(head)


def _boxed_type(head: bytes, name: str) -> str:
    """The type of an ISO base media file (ISO/IEC 14496-12) by the brands in its first box."""
    end = min(int.from_bytes(head[:4], "big"), len(head))
    brands = {head[8:12], *(head[at : at + 4] for at in range(16, end - 3, 4))}
    if brands & _AVIF_BRANDS:
        return ""
    if brands & _HEIC_BRANDS:
        return "image/heic"
    if brands & _HEIF_BRANDS:
        return "image/heif"
    return "audio/mp4" if name.lower().endswith(".m4a") else ""


def _framed_type(head: bytes) -> str:
    """The type of a bare stream of frames: MPEG layer III (ISO/IEC 11172-3), or AAC in ADTS (13818-7)."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return ""
    if head[1] & 0xF6 == 0xF0:
        return "audio/aac"
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    bit_rate, sample_rate = head[2] >> 4, head[2] >> 2 & 3
    is_frame = version != 1 and layer == 1 and bit_rate != 15 and sample_rate != 3
    return "audio/mpeg" if is_frame else ""
