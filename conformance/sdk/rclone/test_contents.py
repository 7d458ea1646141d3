"""Single contents: streams, ranges, large files in blocks."""

import hashlib

import pytest

from conftest import RcloneFailed
from results import operation

MEBIBYTE = 1 << 20


def noise(size):
    return hashlib.shake_128(b"seed").digest(size)


@operation("PutBlock")
def test_large_file_goes_in_as_blocks_and_comes_out_in_parts(rclone, remote, tmp_path):
    source = tmp_path / "large"
    source.write_bytes(noise(21 * MEBIBYTE + 5))
    rclone("copyto", "--azureblob-chunk-size", "4Mi", "--azureblob-upload-concurrency", "4", source, f"{remote}/large")
    parts = ("--multi-thread-streams", "4", "--multi-thread-cutoff", "1Mi", "--multi-thread-chunk-size", "4Mi")
    rclone("copyto", *parts, f"{remote}/large", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == source.read_bytes()
    rclone("check", source, remote)


@operation("PutBlock")
@pytest.mark.parametrize("size", [0, 1, 100_000, 9 * MEBIBYTE])
def test_stream_goes_in(rclone, remote, size):
    rclone("rcat", "--azureblob-chunk-size", "4Mi", f"{remote}/stream", stdin=noise(size))
    assert rclone("cat", f"{remote}/stream") == noise(size)


@operation("PutBlob")
def test_file_is_replaced(rclone, remote):
    rclone("rcat", f"{remote}/f", stdin=b"first")
    rclone("rcat", f"{remote}/f", stdin=b"second")
    assert rclone("cat", f"{remote}/f") == b"second"


@operation("GetBlob")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--offset", "3", "--count", "4"), b"3456"),
        (("--head", "2"), b"01"),
        (("--tail", "3"), b"789"),
        (("--offset", "8", "--count", "100"), b"89"),
    ],
    ids=["in_the_middle", "at_the_start", "at_the_end", "beyond_the_end"],
)
def test_part_of_a_file_is_read(rclone, remote, words, expected):
    rclone("rcat", f"{remote}/f", stdin=b"0123456789")
    assert rclone("cat", *words, f"{remote}/f") == expected


@operation("ListBlobs")
def test_missing_container_is_told(rclone, remote):
    with pytest.raises(RcloneFailed, match="directory not found"):
        rclone("lsf", f"{remote}-missing")
