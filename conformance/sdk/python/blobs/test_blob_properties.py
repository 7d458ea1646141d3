"""Properties and metadata of blobs: reading them, and changing them without the content."""

from datetime import datetime, timedelta, timezone

import pytest
from azure.storage.blob import BlobType, ContentSettings, StandardBlobTier

from blob_contents import content_of
from refusal import Answer, refused
from results import operation

SETTINGS = {
    "content_type": "text/html",
    "content_encoding": "identity",
    "content_language": "fr",
    "content_disposition": "inline",
    "cache_control": "no-store",
}


@operation("GetBlobProperties")
def test_a_plain_blob_has_plain_properties(blob):
    answer = Answer()
    properties = blob.get_blob_properties(raw_response_hook=answer)
    assert answer.status == 200
    assert (properties.name, properties.size, properties.blob_type) == ("blob", 10, BlobType.BLOCKBLOB)
    assert (properties.lease.status, properties.lease.state, properties.lease.duration) == (
        "unlocked",
        "available",
        None,
    )
    assert (properties.metadata, properties.snapshot, properties.copy.id) == ({}, None, None)
    assert properties.server_encrypted is True
    assert properties.blob_tier == "Hot"
    assert properties.blob_tier_inferred is True
    assert abs(properties.creation_time - datetime.now(timezone.utc)) < timedelta(minutes=1)


@operation("GetBlobProperties")
def test_the_creation_time_of_a_blob_survives_changes(blob):
    created = blob.get_blob_properties().creation_time
    blob.set_blob_metadata({"a": "1"})
    blob.set_http_headers(ContentSettings(content_type="a/b"))
    assert blob.get_blob_properties().creation_time == created


@operation("SetBlobProperties")
def test_content_settings_are_changed_without_the_content(blob):
    before = blob.get_blob_properties()
    answer = Answer()
    blob.set_http_headers(ContentSettings(**SETTINGS), raw_response_hook=answer)
    assert answer.status == 200
    after = blob.get_blob_properties()
    assert {name: getattr(after.content_settings, name) for name in SETTINGS} == SETTINGS
    assert after.etag == answer.headers["ETag"] != before.etag
    assert content_of(blob) == b"0123456789"


@operation("SetBlobProperties")
@pytest.mark.parametrize("given", SETTINGS)
def test_one_content_setting_clears_the_others(container, given):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"text", content_settings=ContentSettings(**SETTINGS))
    blob.set_http_headers(ContentSettings(**{given: SETTINGS[given]}))
    settings = blob.get_blob_properties().content_settings
    found = {name: getattr(settings, name) for name in SETTINGS if name != "content_type" or given == name}
    assert found == {name: (SETTINGS[name] if name == given else None) for name in found}
    assert settings.content_md5 is None


@operation("SetBlobProperties")
def test_no_content_settings_clear_all_of_them(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"text", content_settings=ContentSettings(**SETTINGS))
    blob.set_http_headers()
    settings = blob.get_blob_properties().content_settings
    assert {getattr(settings, name) for name in SETTINGS} == {None}
    assert settings.content_md5 is None


@operation("SetBlobProperties")
def test_changing_content_settings_keeps_the_metadata(blob):
    blob.set_blob_metadata({"a": "1"})
    blob.set_http_headers(ContentSettings(content_type="a/b"))
    assert blob.get_blob_properties().metadata == {"a": "1"}


@operation("SetBlobMetadata")
def test_blob_metadata_is_read_back_and_changes_the_etag(blob):
    before = blob.get_blob_properties()
    answer = Answer()
    blob.set_blob_metadata({"colour": "red", "sentence": "two words"}, raw_response_hook=answer)
    assert answer.status == 200
    after = blob.get_blob_properties()
    assert after.metadata == {"colour": "red", "sentence": "two words"}
    assert after.etag == answer.headers["ETag"] != before.etag
    assert content_of(blob) == b"0123456789"


@operation("SetBlobMetadata")
def test_blob_metadata_is_replaced_as_a_whole(blob):
    blob.set_blob_metadata({"a": "1", "b": "2"})
    blob.set_blob_metadata({"b": "3"})
    assert blob.get_blob_properties().metadata == {"b": "3"}
    blob.set_blob_metadata({})
    assert blob.get_blob_properties().metadata == {}


@operation("SetBlobMetadata")
def test_blob_metadata_keeps_the_content_settings(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"text", content_settings=ContentSettings(**SETTINGS))
    blob.set_blob_metadata({"a": "1"})
    settings = blob.get_blob_properties().content_settings
    assert {name: getattr(settings, name) for name in SETTINGS} == SETTINGS


@operation("GetBlobProperties")
def test_blob_metadata_keeps_the_case_of_its_names(blob):
    blob.set_blob_metadata({"MixedCase": "Value"})
    assert blob.get_blob_properties().metadata == {"MixedCase": "Value"}


@operation("SetBlobMetadata")
@pytest.mark.parametrize("name", ["with-dash", "1digit"])
def test_new_blob_metadata_must_be_named_like_an_identifier(blob, name):
    with refused(400, "InvalidMetadata"):
        blob.set_blob_metadata({name: "value"})


@operation("SetBlobMetadata")
def test_blob_metadata_of_more_than_8_kib_is_refused(blob):
    with refused(400, "MetadataTooLarge"):
        blob.set_blob_metadata({f"name{index}": "v" * 1000 for index in range(9)})


@operation("SetBlobTier")
@pytest.mark.parametrize("tier", ["Hot", "Cool", "Cold"])
def test_a_tier_is_read_back(blob, tier):
    blob.set_standard_blob_tier(tier)
    properties = blob.get_blob_properties()
    assert properties.blob_tier == tier
    assert not properties.blob_tier_inferred


@operation("SetBlobTier")
@pytest.mark.parametrize("priority", ["High", "Standard"])
def test_an_archived_blob_waits_for_its_tier(container, priority):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"text", standard_blob_tier=StandardBlobTier.ARCHIVE)
    with refused(409, "BlobArchived"):
        blob.download_blob()
    blob.set_standard_blob_tier(StandardBlobTier.COOL, rehydrate_priority=priority)
    properties = blob.get_blob_properties()
    assert (properties.blob_tier, properties.archive_status) == ("Archive", "rehydrate-pending-to-cool")
    assert properties.rehydrate_priority == priority
    listed = next(iter(container.list_blobs()))
    assert (listed.blob_tier, listed.archive_status) == ("Archive", "rehydrate-pending-to-cool")


@operation("SetBlobTier")
def test_a_tier_may_come_with_the_blob(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"text", standard_blob_tier=StandardBlobTier.COOL)
    assert blob.get_blob_properties().blob_tier == "Cool"


@operation("SetBlobTags")
def test_tags_are_read_back_and_counted(blob):
    blob.set_blob_tags({"colour": "red", "size x": "1/2+3:4=5_6.-"})
    assert blob.get_blob_tags() == {"colour": "red", "size x": "1/2+3:4=5_6.-"}
    assert blob.get_blob_properties().tag_count == 2


@operation("SetBlobTags")
def test_tags_are_replaced_as_a_whole(blob):
    blob.set_blob_tags({"a": "1", "b": "2"})
    blob.set_blob_tags({"b": "3"})
    assert blob.get_blob_tags() == {"b": "3"}
    blob.set_blob_tags({})
    assert blob.get_blob_tags() == {}


@operation("GetBlobTags")
def test_tags_may_come_with_the_blob(container):
    blob = container.get_blob_client("blob")
    blob.upload_blob(b"text", tags={"a b": "1=2"})
    assert blob.get_blob_tags() == {"a b": "1=2"}


@operation("SetBlobTags")
def test_eleven_tags_are_refused(blob):
    with refused(400):
        blob.set_blob_tags({str(index): "v" for index in range(11)})


@operation("GetAccountInformation")
@pytest.mark.parametrize("level", ["service", "container", "blob"])
def test_the_account_tells_its_kind(blobs, container, blob, level):
    client = {"service": blobs, "container": container, "blob": blob}[level]
    information = client.get_account_information()
    assert information["account_kind"] == "StorageV2"
    assert information["sku_name"]
