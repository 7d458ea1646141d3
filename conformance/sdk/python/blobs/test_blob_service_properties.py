"""Properties of the blob service: logging, metrics, CORS, retention, website; and its statistics."""

from datetime import datetime

import pytest
from azure.storage.blob import BlobAnalyticsLogging, CorsRule, Metrics, RetentionPolicy, StaticWebsite

from blob_clients import blob_client, blob_service
from blob_contents import content_of
from refusal import Answer, refused
from results import operation

FIVE_DAYS = RetentionPolicy(enabled=True, days=5)
ANYONE_MAY_READ = CorsRule(["*"], ["GET"], allowed_headers=["*"], exposed_headers=["x-ms-*"], max_age_in_seconds=60)


@pytest.fixture
def change(account, blobs):
    """Sets properties; puts back what was there, because they belong to the whole account."""
    before = blobs.get_service_properties()

    def set_and_wait(**properties):
        blobs.set_service_properties(**properties)
        account.settle()

    yield set_and_wait
    blobs.set_service_properties(
        analytics_logging=before["analytics_logging"],
        hour_metrics=before["hour_metrics"],
        minute_metrics=before["minute_metrics"],
        cors=before["cors"] or [],
        delete_retention_policy=before["delete_retention_policy"],
        static_website=before["static_website"],
    )


def cors(rule):
    return (
        rule.allowed_origins,
        rule.allowed_methods,
        rule.allowed_headers,
        rule.exposed_headers,
        rule.max_age_in_seconds,
    )


@operation("GetBlobServiceProperties")
def test_blob_properties_have_every_section(blobs):
    properties = blobs.get_service_properties()
    assert {"analytics_logging", "hour_metrics", "minute_metrics", "cors", "delete_retention_policy"} <= set(properties)
    assert {properties[name].version for name in ("analytics_logging", "hour_metrics", "minute_metrics")} == {"1.0"}
    assert properties["delete_retention_policy"].enabled is False


@operation("SetBlobServiceProperties")
def test_blob_logging_is_read_back(blobs, change):
    change(analytics_logging=BlobAnalyticsLogging(read=True, write=False, delete=True, retention_policy=FIVE_DAYS))
    logging = blobs.get_service_properties()["analytics_logging"]
    assert (logging.read, logging.write, logging.delete) == (True, False, True)
    assert (logging.retention_policy.enabled, logging.retention_policy.days) == (True, 5)


@operation("SetBlobServiceProperties")
@pytest.mark.parametrize("section", ["hour_metrics", "minute_metrics"])
def test_blob_metrics_are_read_back(blobs, change, section):
    change(**{section: Metrics(enabled=True, include_apis=True, retention_policy=FIVE_DAYS)})
    metrics = blobs.get_service_properties()[section]
    assert (metrics.enabled, metrics.include_apis) == (True, True)
    assert (metrics.retention_policy.enabled, metrics.retention_policy.days) == (True, 5)


@operation("SetBlobServiceProperties")
def test_blob_cors_rules_are_read_back_in_order(blobs, change):
    rules = [ANYONE_MAY_READ, CorsRule(["https://a.example"], ["GET", "PUT"], max_age_in_seconds=500)]
    change(cors=rules)
    assert [cors(rule)[:2] for rule in blobs.get_service_properties()["cors"]] == [cors(rule)[:2] for rule in rules]


@operation("SetBlobServiceProperties")
def test_a_section_of_blob_properties_left_out_keeps_its_value(blobs, change):
    change(cors=[ANYONE_MAY_READ], analytics_logging=BlobAnalyticsLogging(write=True))
    change(hour_metrics=Metrics(enabled=False))
    properties = blobs.get_service_properties()
    assert properties["analytics_logging"].write is True
    assert [cors(rule) for rule in properties["cors"]] == [cors(ANYONE_MAY_READ)]


@operation("SetBlobServiceProperties")
def test_a_default_version_is_read_back(blobs, change):
    change(target_version="2020-10-02")
    assert blobs.get_service_properties()["target_version"] == "2020-10-02"


@operation("SetBlobServiceProperties")
def test_a_website_is_read_back(blobs, change):
    change(static_website=StaticWebsite(enabled=True, index_document="index.html", error_document404_path="404.html"))
    website = blobs.get_service_properties()["static_website"]
    assert (website.enabled, website.index_document, website.error_document404_path) == (
        True,
        "index.html",
        "404.html",
    )


@operation("SetBlobServiceProperties")
def test_setting_blob_properties_is_accepted_with_202(change):
    answer = Answer()
    change(analytics_logging=BlobAnalyticsLogging(), raw_response_hook=answer)
    assert answer.status == 202


@operation("SetBlobServiceProperties")
def test_retention_of_366_days_is_refused_for_blobs(change):
    with refused(400, "InvalidXmlDocument"):
        change(delete_retention_policy=RetentionPolicy(enabled=True, days=366))


@operation("SetBlobServiceProperties")
def test_six_cors_rules_are_refused_for_blobs(change):
    with refused(400):
        change(cors=[ANYONE_MAY_READ] * 6)


@operation("GetBlobServiceStats")
def test_the_secondary_of_blobs_reports_replication(account):
    secondary = account.secondary_of(account.blob_endpoint)
    service = blob_service(account, endpoint=secondary, secondary_hostname=account.blob_endpoint.split("/")[2])
    replication = service.get_service_stats()["geo_replication"]
    assert replication["status"] in ("live", "bootstrap", "unavailable")
    if replication["status"] == "live":
        assert isinstance(replication["last_sync_time"], datetime)


@operation("GetBlob")
def test_the_secondary_of_blobs_serves_reads(account, container, blob):
    if account.target == "azure":
        pytest.skip("replication to a live secondary takes its time")
    secondary = account.secondary_of(account.blob_endpoint)
    with blob_client(account, container.container_name, "blob", endpoint=secondary) as client:
        assert content_of(client) == b"0123456789"
        assert client.get_blob_properties().size == 10
