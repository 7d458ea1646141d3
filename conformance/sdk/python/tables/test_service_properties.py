"""Properties of the service: logging, metrics and CORS rules."""

import pytest
from azure.data.tables import TableAnalyticsLogging, TableCorsRule, TableMetrics, TableRetentionPolicy

from refusal import Answer, refused
from results import operation

OFF = TableRetentionPolicy(enabled=False)
FIVE_DAYS = TableRetentionPolicy(enabled=True, days=5)
ANYONE_MAY_READ = TableCorsRule(
    ["*"], ["GET"], allowed_headers=["*"], exposed_headers=["x-ms-*"], max_age_in_seconds=60
)


@pytest.fixture(autouse=True)
def restored(service):
    """Puts back what was there, because the properties belong to the whole account."""
    before = service.get_service_properties()
    yield
    service.set_service_properties(
        analytics_logging=before["analytics_logging"],
        hour_metrics=before["hour_metrics"],
        minute_metrics=before["minute_metrics"],
        cors=before["cors"] or [],
    )


@pytest.fixture
def change(account, service):
    def set_and_wait(**properties):
        service.set_service_properties(**properties)
        account.settle()

    return set_and_wait


def retention(policy):
    return policy.enabled, policy.days


def cors(rule):
    return (
        rule.allowed_origins,
        rule.allowed_methods,
        rule.allowed_headers,
        rule.exposed_headers,
        rule.max_age_in_seconds,
    )


@operation("GetTableServiceProperties")
def test_properties_have_every_section(service):
    properties = service.get_service_properties()
    assert set(properties) == {"analytics_logging", "hour_metrics", "minute_metrics", "cors"}
    assert properties["analytics_logging"].version == "1.0"
    assert properties["hour_metrics"].version == "1.0"
    assert properties["minute_metrics"].version == "1.0"


@operation("SetTableServiceProperties")
def test_logging_is_read_back(service, change):
    change(analytics_logging=TableAnalyticsLogging(read=True, write=False, delete=True, retention_policy=FIVE_DAYS))
    logging = service.get_service_properties()["analytics_logging"]
    assert (logging.read, logging.write, logging.delete) == (True, False, True)
    assert retention(logging.retention_policy) == (True, 5)


@operation("SetTableServiceProperties")
@pytest.mark.parametrize("section", ["hour_metrics", "minute_metrics"])
def test_metrics_are_read_back(service, change, section):
    change(**{section: TableMetrics(enabled=True, include_apis=True, retention_policy=FIVE_DAYS)})
    metrics = service.get_service_properties()[section]
    assert (metrics.enabled, metrics.include_apis) == (True, True)
    assert retention(metrics.retention_policy) == (True, 5)


@operation("SetTableServiceProperties")
@pytest.mark.parametrize("section", ["hour_metrics", "minute_metrics"])
def test_metrics_are_switched_off(service, change, section):
    change(**{section: TableMetrics(enabled=False, retention_policy=OFF)})
    metrics = service.get_service_properties()[section]
    assert metrics.enabled is False
    assert retention(metrics.retention_policy) == (False, None)


@operation("SetTableServiceProperties")
def test_cors_rules_are_read_back_in_order(service, change):
    rules = [
        ANYONE_MAY_READ,
        TableCorsRule(
            ["https://a.example", "https://b.example"],
            ["GET", "POST", "MERGE"],
            allowed_headers=["x-ms-meta-data*", "x-ms-meta-target*", "x-ms-meta-abc"],
            exposed_headers=["x-ms-meta-*"],
            max_age_in_seconds=500,
        ),
    ]
    change(cors=rules)
    assert [cors(rule) for rule in service.get_service_properties()["cors"]] == [cors(rule) for rule in rules]


@operation("SetTableServiceProperties")
def test_a_cors_rule_may_name_no_headers(service, change):
    bare = TableCorsRule(["https://a.example"], ["GET"])
    change(cors=[bare])
    assert [cors(rule) for rule in service.get_service_properties()["cors"]] == [cors(bare)]


@operation("SetTableServiceProperties")
def test_a_section_left_out_keeps_its_value(service, change):
    change(cors=[ANYONE_MAY_READ], analytics_logging=TableAnalyticsLogging(write=True))
    change(hour_metrics=TableMetrics(enabled=False))
    properties = service.get_service_properties()
    assert properties["analytics_logging"].write is True
    assert [cors(rule) for rule in properties["cors"]] == [cors(ANYONE_MAY_READ)]


@operation("SetTableServiceProperties")
def test_an_empty_list_removes_the_cors_rules(service, change):
    change(cors=[ANYONE_MAY_READ])
    change(cors=[])
    assert not service.get_service_properties()["cors"]


@operation("SetTableServiceProperties")
def test_setting_is_accepted_with_202(service):
    answer = Answer()
    service.set_service_properties(analytics_logging=TableAnalyticsLogging(), raw_response_hook=answer)
    assert answer.status == 202


@operation("SetTableServiceProperties")
def test_setting_nothing_is_refused(service):
    with refused(400, "InvalidXmlDocument"):
        service.set_service_properties()


@operation("SetTableServiceProperties")
def test_retention_of_366_days_is_refused(service):
    too_long = TableRetentionPolicy(enabled=True, days=366)
    with refused(400, "InvalidXmlDocument"):
        service.set_service_properties(
            minute_metrics=TableMetrics(enabled=True, include_apis=True, retention_policy=too_long)
        )


@operation("SetTableServiceProperties")
def test_six_cors_rules_are_refused(service):
    with refused(400):
        service.set_service_properties(cors=[ANYONE_MAY_READ] * 6)
