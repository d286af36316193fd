"""The smallest real pictures and sounds, made in code."""

from __future__ import annotations

import base64
import io
import struct
import wave
import zlib


def png(colour: tuple[int, int, int] = (200, 30, 30)) -> bytes:
    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" + bytes(colour))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", pixels) + part(b"IEND", b"")


def jpeg(brightness: int = 0) -> bytes:
    """8 × 8 grey pixels: one DC coefficient of category 0, no AC; a comment carries the difference."""

    def segment(marker: int, data: bytes) -> bytes:
        return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data

    one_code = b"\1" + b"\0" * 15 + b"\0"
    return b"".join(
        (
            b"\xff\xd8",
            segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"),
            segment(0xFE, bytes([brightness])),
            segment(0xDB, b"\0" + b"\1" * 64),
            segment(0xC0, b"\x08\0\x08\0\x08\1\1\x11\0"),
            segment(0xC4, b"\0" + one_code),
            segment(0xC4, b"\x10" + one_code),
            segment(0xDA, b"\1\1\0\0\x3f\0"),
            b"\x3f\xff\xd9",
        )
    )


def gif() -> bytes:
    head = b"GIF89a\1\0\1\0\x80\0\0\xff\xff\xff\0\0\0"
    return head + b"\x2c\0\0\0\0\1\0\1\0\0\x02\x02\x44\x01\0\x3b"


def webp() -> bytes:
    return base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")


def heic() -> bytes:
    """The first box alone: what tells the kind."""
    return struct.pack(">I", 24) + b"ftypheic\0\0\0\0mif1heic"


def heif() -> bytes:
    return struct.pack(">I", 24) + b"ftypmif1\0\0\0\0mif1miaf"


def avif() -> bytes:
    return struct.pack(">I", 28) + b"ftypavif\0\0\0\0mif1avifmiaf"


def wav(sample: int = 0) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(struct.pack("<h", sample) * 8)
    return buffer.getvalue()


def mp3(*, version: int = 3, checksum: bool = False) -> bytes:
    """Two silent frames: of MPEG 1 (version 3), or of MPEG 2 (version 2), layer III."""
    second = 0xE0 | version << 3 | 1 << 1 | (not checksum)
    length = 417 if version == 3 else 208
    return (bytes([0xFF, second, 0x90 if version == 3 else 0x80, 0xC4]) + b"\0" * (length - 4)) * 2


def tagged(sound: bytes, *, tag_bytes: int = 1000) -> bytes:
    """The sound after an ID3v2 tag of so many bytes."""
    size = bytes(tag_bytes >> shift & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\4\0\0" + size + b"\0" * tag_bytes + sound


def aac() -> bytes:
    """One ADTS frame of AAC LC, 44.1 kHz, mono, with an empty payload."""
    return b"\xff\xf1\x50\x40\x01\x3f\xfc\x01\x18\x20\x07"[:9]


def flac() -> bytes:
    """STREAMINFO as the last block, no frame: 44.1 kHz, mono, 16 bits, no sample."""
    packed = 44_100 << 44 | 0 << 41 | 15 << 36
    info = struct.pack(">HH", 4096, 4096) + b"\0" * 6 + struct.pack(">Q", packed) + b"\0" * 16
    return b"fLaC" + struct.pack(">I", 0x80 << 24 | len(info)) + info


def ogg(kind: str = "opus") -> bytes:
    """The first page of an Ogg stream: an Opus or Vorbis sound, or a Theora video."""
    packets = {
        "opus": b"OpusHead\1\1\0\0" + struct.pack("<I", 48_000) + b"\0\0\0",
        "vorbis": b"\1vorbis\0\0\0\0\1" + struct.pack("<Iiii", 44_100, 0, 64_000, 0) + b"\xb8\1",
        "theora": b"\x80theora\3\2\1" + b"\0" * 32,
    }
    packet = packets[kind]
    head = b"OggS\0\2" + struct.pack("<qII", 0, 1, 0)
    tail = bytes([1, len(packet)]) + packet
    return head + struct.pack("<I", _ogg_checksum(head + b"\0\0\0\0" + tail)) + tail


def _ogg_checksum(page: bytes) -> int:
    checksum = 0
    for byte in page:
        checksum ^= byte << 24
        for _ in range(8):
            checksum = (checksum << 1 ^ (0x04C11DB7 if checksum & 1 << 31 else 0)) & 0xFFFFFFFF
    return checksum


def m4a(brand: bytes = b"M4A ") -> bytes:
    """An MPEG-4 file with a header and no track."""
    first = b"ftyp" + brand + b"\0\0\0\0" + b"mp42isom"
    movie = b"mvhd" + b"\0" * 12 + struct.pack(">II", 1000, 0) + b"\0" * 80
    inner = struct.pack(">I", len(movie) + 4) + movie
    return struct.pack(">I", len(first) + 4) + first + struct.pack(">I", len(inner) + 8) + b"moov" + inner
