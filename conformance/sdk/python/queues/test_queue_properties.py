"""Properties of the queue service: logging, metrics and CORS rules; and its statistics."""

from datetime import datetime

import pytest
from azure.storage.queue import CorsRule, Metrics, QueueAnalyticsLogging, RetentionPolicy

from queue_clients import queue_client, queue_service
from refusal import Answer, refused
from results import operation

FIVE_DAYS = RetentionPolicy(enabled=True, days=5)
ANYONE_MAY_READ = CorsRule(["*"], ["GET"], allowed_headers=["*"], exposed_headers=["x-ms-*"], max_age_in_seconds=60)


@pytest.fixture
def change(account, queues):
    """Sets properties; puts back what was there, because they belong to the whole account."""
    before = queues.get_service_properties()

    def set_and_wait(**properties):
        queues.set_service_properties(**properties)
        account.settle()

    yield set_and_wait
    queues.set_service_properties(**before | {"cors": before["cors"] or []})


def cors(rule):
    return (
        rule.allowed_origins,
        rule.allowed_methods,
        rule.allowed_headers,
        rule.exposed_headers,
        rule.max_age_in_seconds,
    )


@operation("GetQueueServiceProperties")
def test_queue_properties_have_every_section(queues):
    properties = queues.get_service_properties()
    assert set(properties) == {"analytics_logging", "hour_metrics", "minute_metrics", "cors"}
    assert {properties[name].version for name in ("analytics_logging", "hour_metrics", "minute_metrics")} == {"1.0"}


@operation("SetQueueServiceProperties")
def test_queue_logging_is_read_back(queues, change):
    change(analytics_logging=QueueAnalyticsLogging(read=True, write=False, delete=True, retention_policy=FIVE_DAYS))
    logging = queues.get_service_properties()["analytics_logging"]
    assert (logging.read, logging.write, logging.delete) == (True, False, True)
    assert (logging.retention_policy.enabled, logging.retention_policy.days) == (True, 5)


@operation("SetQueueServiceProperties")
@pytest.mark.parametrize("section", ["hour_metrics", "minute_metrics"])
def test_queue_metrics_are_read_back(queues, change, section):
    change(**{section: Metrics(enabled=True, include_apis=True, retention_policy=FIVE_DAYS)})
    metrics = queues.get_service_properties()[section]
    assert (metrics.enabled, metrics.include_apis) == (True, True)
    assert (metrics.retention_policy.enabled, metrics.retention_policy.days) == (True, 5)


@operation("SetQueueServiceProperties")
def test_queue_cors_rules_are_read_back_in_order(queues, change):
    rules = [
        ANYONE_MAY_READ,
        CorsRule(
            ["https://a.example", "https://b.example"],
            ["GET", "POST"],
            allowed_headers=["x-ms-meta-data*", "x-ms-meta-abc"],
            exposed_headers=["x-ms-meta-*"],
            max_age_in_seconds=500,
        ),
    ]
    change(cors=rules)
    assert [cors(rule) for rule in queues.get_service_properties()["cors"]] == [cors(rule) for rule in rules]


@operation("SetQueueServiceProperties")
def test_a_section_of_queue_properties_left_out_keeps_its_value(queues, change):
    change(cors=[ANYONE_MAY_READ], analytics_logging=QueueAnalyticsLogging(write=True))
    change(hour_metrics=Metrics(enabled=False))
    properties = queues.get_service_properties()
    assert properties["analytics_logging"].write is True
    assert [cors(rule) for rule in properties["cors"]] == [cors(ANYONE_MAY_READ)]


@operation("SetQueueServiceProperties")
def test_an_empty_list_removes_the_cors_rules_of_queues(queues, change):
    change(cors=[ANYONE_MAY_READ])
    change(cors=[])
    assert not queues.get_service_properties()["cors"]


@operation("SetQueueServiceProperties")
def test_setting_queue_properties_is_accepted_with_202(queues, change):
    answer = Answer()
    change(analytics_logging=QueueAnalyticsLogging(), raw_response_hook=answer)
    assert answer.status == 202


@operation("SetQueueServiceProperties")
def test_retention_of_366_days_is_refused_for_queues(change):
    too_long = RetentionPolicy(enabled=True, days=366)
    with refused(400, "InvalidXmlDocument"):
        change(minute_metrics=Metrics(enabled=True, include_apis=True, retention_policy=too_long))


@operation("SetQueueServiceProperties")
def test_six_cors_rules_are_refused_for_queues(change):
    with refused(400):
        change(cors=[ANYONE_MAY_READ] * 6)


@operation("GetQueueServiceStats")
def test_the_secondary_of_queues_reports_replication(account):
    secondary = account.secondary_of(account.queue_endpoint)
    service = queue_service(account, endpoint=secondary, secondary_hostname=account.queue_endpoint.split("/")[2])
    replication = service.get_service_stats()["geo_replication"]
    assert replication["status"] in ("live", "bootstrap", "unavailable")
    if replication["status"] == "live":
        assert isinstance(replication["last_sync_time"], datetime)


@operation("PeekMessages")
def test_the_secondary_of_queues_serves_reads(account, queue):
    if account.target == "azure":
        pytest.skip("replication to a live secondary takes its time")
    queue.send_message("text")
    with queue_client(account, queue.queue_name, endpoint=account.secondary_of(account.queue_endpoint)) as secondary:
        assert secondary.peek_messages()[0].content == "text"
        assert secondary.get_queue_properties().approximate_message_count == 1
