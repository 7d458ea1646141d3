"""Names of blobs: every character survives its way through address, signature and listing."""

import pytest

from blob_contents import content_of
from refusal import refused
from results import operation

NAMES = {
    "plain": "blob",
    "one_character": "b",
    "upper_and_lower": "MixedCase",
    "path": "a/b/c.txt",
    "leading_slash": "/leading",
    "trailing_slash": "trailing/",
    "two_slashes": "a//b",
    "dots": "a.b..c",
    "space": "two words",
    "plus": "a+b",
    "percent": "100%",
    "percent_and_digits": "a%20b%2Fc",
    "question_mark": "what?",
    "hash": "number#1",
    "ampersand_and_equals": "a=b&c=d",
    "quotes": "it's \"quoted\"",
    "brackets": "a(b)[c]{d}",
    "colon_and_semicolon": "12:30;x",
    "comma_at_dollar": "a,b@c$d",
    "tilde_star_bang": "~a*b!",
    "angle_brackets": "<a>&<b>",
    "german": "Grüße",
    "chinese": "文件",
    "emoji": "🐘.txt",
    "combining": "e\u0301",
    "long": "n" * 1024,
    "many_segments": "/".join(["s"] * 254),
}


@operation("PutBlob")
@pytest.mark.parametrize("name", [pytest.param(name, id=label) for label, name in NAMES.items()])
def test_a_blob_name_survives(container, name):
    blob = container.get_blob_client(name)
    blob.upload_blob(b"text", metadata={"a": "1"})
    assert content_of(blob) == b"text"
    assert blob.get_blob_properties().metadata == {"a": "1"}
    assert [found.name for found in container.list_blobs()] == [name]
    assert [found.name for found in container.list_blobs(name_starts_with=name)] == [name]
    blob.delete_blob()
    assert list(container.list_blobs()) == []


@operation("PutBlob")
def test_names_of_blobs_differ_by_case(container):
    container.upload_blob("name", b"lower")
    container.upload_blob("NAME", b"upper")
    assert content_of(container.get_blob_client("name")) == b"lower"
    assert [found.name for found in container.list_blobs()] == ["NAME", "name"]


@operation("ListBlobs")
@pytest.mark.parametrize("character", ["\u0001", "\u001f", "\uffff"], ids=["one", "unit_separator", "noncharacter"])
def test_a_name_that_xml_cannot_hold_is_listed(container, character):
    name = f"a{character}b"
    container.upload_blob(name, b"text")
    assert [found.name for found in container.list_blobs()] == [name]


@operation("PutBlob")
def test_a_blob_name_of_1025_characters_is_refused(container):
    with refused(400):
        container.upload_blob("n" * 1025, b"text")
