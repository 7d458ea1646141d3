"""Listing blobs, flat and by hierarchy: order, prefixes, pages, markers, and what is told of each."""

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobPrefix, BlobType, ContentSettings

from blob_contents import md5_of
from refusal import Answer, refused
from results import operation

pytestmark = operation("ListBlobs")

NAMES = ["a", "a/1", "a/2", "a/b/1", "a/b/2", "ab", "b/1", "b/c/d/1", "c", "Z"]


@pytest.fixture
def tree(container):
    for name in NAMES:
        container.upload_blob(name, name.encode())
    return container


def names_of(listed):
    return [blob.name for blob in listed]


def test_an_empty_container_lists_nothing(container):
    assert names_of(container.list_blobs()) == []


def test_blobs_come_in_the_order_of_their_bytes(tree):
    assert names_of(tree.list_blobs()) == sorted(NAMES)


def test_only_names_are_listed(tree):
    assert list(tree.list_blob_names()) == sorted(NAMES)


@pytest.mark.parametrize("prefix", ["a", "a/", "a/b", "b/", "c", "z", "a/b/1", "Z"])
def test_blobs_with_a_prefix_are_listed(tree, prefix):
    expected = [name for name in sorted(NAMES) if name.startswith(prefix)]
    assert names_of(tree.list_blobs(name_starts_with=prefix)) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 9, 10, 11])
def test_pages_of_blobs_cover_all_without_repetition(tree, size):
    pages = [names_of(page) for page in tree.list_blobs(results_per_page=size).by_page()]
    assert [name for page in pages for name in page] == sorted(NAMES)
    assert max(len(page) for page in pages) <= size


def test_a_listing_of_blobs_can_be_taken_up_again(tree):
    pages = tree.list_blobs(results_per_page=4).by_page()
    first = names_of(next(pages))
    rest = tree.list_blobs(results_per_page=4).by_page(pages.continuation_token)
    assert first + [name for page in rest for name in names_of(page)] == sorted(NAMES)


def test_a_page_after_a_deletion_goes_on_where_it_stood(tree):
    pages = tree.list_blobs(results_per_page=4).by_page()
    first = names_of(next(pages))
    tree.delete_blob(sorted(NAMES)[4])
    rest = [name for page in pages for name in names_of(page)]
    assert first + rest == [name for name in sorted(NAMES) if name != sorted(NAMES)[4]]


def test_300_blobs_are_listed_in_pages(container):
    expected = [f"blob-{index:04}" for index in range(300)]
    for name in expected:
        container.upload_blob(name, b"")
    assert names_of(container.list_blobs(results_per_page=70)) == expected


def test_a_page_of_no_blobs_is_refused(tree):
    with refused(400, "OutOfRangeQueryParameterValue"):
        list(tree.list_blobs(results_per_page=-1))


def test_a_listed_blob_has_its_properties(container):
    blob = container.get_blob_client("blob")
    settings = ContentSettings(
        content_type="text/plain",
        content_encoding="identity",
        content_language="de",
        content_disposition="inline",
        cache_control="no-store",
    )
    blob.upload_blob(b"hello", content_settings=settings)
    (listed,) = container.list_blobs()
    asked = blob.get_blob_properties()
    assert listed.etag == asked.etag.strip('"')
    for name in ("last_modified", "creation_time", "size", "blob_type", "blob_tier", "server_encrypted"):
        assert getattr(listed, name) == getattr(asked, name), name
    for name in ("content_type", "content_encoding", "content_language", "content_disposition", "cache_control"):
        assert getattr(listed.content_settings, name) == getattr(asked.content_settings, name), name
    assert bytes(listed.content_settings.content_md5) == bytes(md5_of(b"hello"))
    assert (listed.lease.status, listed.lease.state) == ("unlocked", "available")
    assert (listed.container, listed.snapshot) == (container.container_name, None)


def test_types_of_blobs_are_listed(container):
    container.upload_blob("block", b"x")
    container.get_blob_client("append").create_append_blob()
    found = {blob.name: blob.blob_type for blob in container.list_blobs()}
    assert found == {"append": BlobType.APPENDBLOB, "block": BlobType.BLOCKBLOB}


def test_blob_metadata_is_listed_only_when_asked_for(container):
    container.upload_blob("blob", b"x", metadata={"colour": "red"})
    container.upload_blob("plain", b"x")
    # The SDK makes None of the service's empty element, and an empty dictionary of none at all.
    assert [blob.metadata or {} for blob in container.list_blobs(include=["metadata"])] == [{"colour": "red"}, {}]
    assert not any(blob.metadata for blob in container.list_blobs())


def test_a_listed_blob_shows_its_lease(container, blob):
    blob.acquire_lease(lease_duration=-1)
    (listed,) = container.list_blobs()
    assert (listed.lease.status, listed.lease.state, listed.lease.duration) == ("locked", "leased", "infinite")


def test_tags_are_listed_only_when_asked_for(container, blob):
    blob.set_blob_tags({"a": "1"})
    assert [found.tags for found in container.list_blobs(include=["tags"])] == [{"a": "1"}]
    assert not any(found.tags for found in container.list_blobs())


def test_several_things_are_included_at_once(container, blob):
    blob.set_blob_metadata({"a": "1"})
    blob.create_snapshot()
    container.get_blob_client("staged").stage_block("AAAA", b"x")
    listed = list(container.list_blobs(include=["metadata", "snapshots", "uncommittedblobs", "copy"]))
    assert [(found.name, bool(found.snapshot), found.metadata) for found in listed] == [
        ("blob", True, {"a": "1"}),
        ("blob", False, {"a": "1"}),
        ("staged", False, {}),
    ]


def test_a_listing_of_blobs_is_xml(tree):
    answer = Answer()
    next(tree.list_blobs(raw_response_hook=answer).by_page())
    assert answer.status == 200
    assert answer.headers["Content-Type"].startswith("application/xml")


def level(listed):
    """What one level of the hierarchy shows: blobs by name, prefixes with a mark."""
    return [f"{item.name} +" if isinstance(item, BlobPrefix) else item.name for item in listed]


@pytest.mark.parametrize(
    "prefix, expected",
    [
        pytest.param(None, ["Z", "a", "a/ +", "ab", "b/ +", "c"], id="the_top"),
        pytest.param("a/", ["a/1", "a/2", "a/b/ +"], id="a_folder"),
        pytest.param("a", ["a", "a/ +", "ab"], id="half_a_name"),
        pytest.param("b/c/", ["b/c/d/ +"], id="a_folder_in_a_folder"),
        pytest.param("a/b/", ["a/b/1", "a/b/2"], id="a_leaf"),
        pytest.param("nothing/", [], id="nothing"),
    ],
)
def test_a_level_of_the_hierarchy_is_listed(tree, prefix, expected):
    assert sorted(level(tree.walk_blobs(name_starts_with=prefix))) == sorted(expected)


def test_a_prefix_can_be_walked_into(tree):
    prefixes = {item.name: item for item in tree.walk_blobs() if isinstance(item, BlobPrefix)}
    assert sorted(level(prefixes["a/"])) == ["a/1", "a/2", "a/b/ +"]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_prefixes_and_blobs_share_pages(tree, size):
    pages = [level(page) for page in tree.walk_blobs(results_per_page=size).by_page()]
    assert sorted(item for page in pages for item in page) == sorted(["Z", "a", "a/ +", "ab", "b/ +", "c"])
    assert max(len(page) for page in pages) <= size


@pytest.mark.parametrize(
    "delimiter, expected",
    [
        pytest.param("b", ["Z", "a", "a/1", "a/2", "a/b +", "ab +", "b +", "c"], id="a_letter"),
        pytest.param("/b/", ["Z", "a", "a/1", "a/2", "a/b/ +", "ab", "b/1", "b/c/d/1", "c"], id="several_characters"),
    ],
)
def test_a_delimiter_may_be_any_text(tree, delimiter, expected):
    assert sorted(level(tree.walk_blobs(delimiter=delimiter))) == sorted(expected)


def test_snapshots_do_not_go_with_a_hierarchy(tree):
    with pytest.raises(HttpResponseError) as caught:
        list(tree.walk_blobs(include=["snapshots"]))
    assert caught.value.status_code == 400


def test_metadata_goes_with_a_hierarchy(tree):
    tree.get_blob_client("c").set_blob_metadata({"a": "1"})
    found = {item.name: item for item in tree.walk_blobs(include=["metadata"]) if not isinstance(item, BlobPrefix)}
    assert found["c"].metadata == {"a": "1"}
