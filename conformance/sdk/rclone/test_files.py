"""Trees of files: copied, compared, synchronised, moved, listed."""

import json

import pytest

from conftest import RcloneFailed
from results import operation


def names(rclone, address):
    return sorted(rclone.lines("lsf", "--recursive", "--files-only", address))


def local_names(tree):
    return sorted(path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_file())


@operation("PutBlob")
def test_tree_goes_in_and_comes_out(rclone, remote, tree, tmp_path):
    rclone("copy", tree, remote)
    assert names(rclone, remote) == local_names(tree)
    rclone("copy", remote, tmp_path / "out")
    assert local_names(tmp_path / "out") == local_names(tree)
    for name in local_names(tree):
        assert (tmp_path / "out" / name).read_bytes() == (tree / name).read_bytes()


@operation("ListBlobs")
def test_check_compares_digests_and_contents(rclone, remote, tree):
    rclone("copy", tree, remote)
    rclone("check", tree, remote)
    rclone("check", "--download", tree, remote)
    (tree / "a.txt").write_bytes(b"b")
    with pytest.raises(RcloneFailed):
        rclone("check", tree, remote)


@operation("DeleteBlob")
def test_sync_removes_what_is_gone_and_skips_what_is_there(rclone, remote, tree):
    rclone("sync", tree, remote)
    (tree / "a.txt").unlink()
    (tree / "new.txt").write_bytes(b"new")
    rclone("sync", tree, remote)
    assert names(rclone, remote) == local_names(tree)
    told = rclone("sync", "--dry-run", "--use-json-log", "--log-level", "NOTICE", tree, remote)
    assert b"Skipped" not in told


@operation("SetBlobMetadata")
def test_times_of_files_are_kept(rclone, remote, tree):
    rclone("copy", tree, remote)
    rclone("touch", "--timestamp", "2001-02-03T04:05:06", f"{remote}/a.txt")
    [item] = json.loads(rclone("lsjson", f"{remote}/a.txt"))
    assert item["ModTime"].startswith("2001-02-03T04:05:06")


@operation("ListBlobs")
def test_listing_tells_sizes_digests_and_folders(rclone, remote, tree):
    rclone("copy", tree, remote)
    top = {item["Name"]: item for item in json.loads(rclone("lsjson", "--hash", remote))}
    assert sorted(name for name, item in top.items() if item["IsDir"]) == ["Grüße", "folder", "odd"]
    assert top["a.txt"]["Size"] == 1
    assert top["a.txt"]["Hashes"]["md5"] == "0cc175b9c0f1b6a831c399e269772661"
    assert top["empty"]["Size"] == 0
    sizes = json.loads(rclone("size", "--json", remote))
    assert sizes["count"] == len(local_names(tree))


@operation("ListBlobs")
def test_listing_of_many_comes_in_pages(rclone, remote, tmp_path):
    many = tmp_path / "many"
    many.mkdir()
    for number in range(60):
        (many / f"{number:03}").write_bytes(b"x")
    rclone("copy", "--transfers", "8", many, remote)
    assert len(rclone.lines("lsf", "--azureblob-list-chunk", "7", remote)) == 60


@operation("CopyBlob")
def test_copies_and_moves_stay_on_the_server(rclone, remote, tree):
    rclone("copy", tree, remote)
    rclone("copyto", f"{remote}/folder/b c.txt", f"{remote}/copy of b.txt")
    rclone("moveto", f"{remote}/a.txt", f"{remote}/moved/ä.txt")
    assert rclone("cat", f"{remote}/copy of b.txt") == b"b" * 1000
    assert rclone("cat", f"{remote}/moved/ä.txt") == b"a"
    assert "a.txt" not in names(rclone, remote)


@operation("DeleteBlob")
def test_delete_and_purge_remove_what_they_should(rclone, remote, tree):
    rclone("copy", tree, remote)
    rclone("delete", "--include", "*.txt", remote)
    assert names(rclone, remote) == ["empty", "folder/deep/er/d.bin"]
    rclone("purge", f"{remote}/folder")
    assert names(rclone, remote) == ["empty"]
    rclone("deletefile", f"{remote}/empty")
    assert names(rclone, remote) == []


@operation("ListContainers")
def test_containers_are_made_listed_and_removed(rclone, remote):
    name = remote.removeprefix("server:")
    assert f"{name}/" in rclone.lines("lsf", "server:")
    rclone("rmdir", remote)
    assert f"{name}/" not in rclone.lines("lsf", "server:")


@operation("SetBlobTier")
def test_tier_is_changed(rclone, remote, tree):
    rclone("copy", tree / "a.txt", remote)
    rclone("settier", "Cool", f"{remote}/a.txt")
    [item] = json.loads(rclone("lsjson", f"{remote}/a.txt"))
    assert item["Tier"] == "Cool"
