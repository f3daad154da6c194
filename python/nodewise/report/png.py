"""Small pictures as PNG, a pixel for each number, with nothing but the standard library."""

import base64
import math
import struct
import zlib


def chunk(kind, content):
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def encode(pixels, colour):
    """A picture of one colour. pixels[row][column]: how much it covers, 0 to 255."""
    height, width = len(pixels), len(pixels[0])
    palette = bytes(colour) * 256
    rows = b"".join(b"\0" + bytes(row) for row in pixels)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + chunk(b"PLTE", palette)
        + chunk(b"tRNS", bytes(range(256)))
        + chunk(b"IDAT", zlib.compress(rows, 9))
        + chunk(b"IEND", b"")
    )


def data_uri(png):
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


FAINTEST = 56  # what holds anything is seen


def cover(values, strongest=255):
    """Numbers to 0 to `strongest`: nothing stays nothing, the rest by its logarithm."""
    largest = max((v for row in values for v in row), default=0)
    if largest <= 0:
        return [[0 for _ in row] for row in values]
    smallest = min(v for row in values for v in row if v > 0)
    span = math.log(largest / smallest)

    def pixel(value):
        if value <= 0:
            return 0
        share = math.log(value / smallest) / span if span > 0 else 1
        return round(FAINTEST + (strongest - FAINTEST) * share)

    return [[pixel(v) for v in row] for row in values]
