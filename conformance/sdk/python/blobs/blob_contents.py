"""Bytes to store, in which no two places look alike, and ways to read them back."""

import hashlib
import random

KIB = 1024
MIB = 1024 * 1024


def some_bytes(size, seed=1):
    """Always the same for one size and seed."""
    return random.Random(f"{size} {seed}").randbytes(size)


def md5_of(content):
    return bytearray(hashlib.md5(content, usedforsecurity=False).digest())


def content_of(blob, **options):
    return blob.download_blob(**options).readall()
