"""Stored access policies of a table: setting, reading, clearing, and how many there may be."""

from datetime import datetime, timezone

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables import TableAccessPolicy

from refusal import Answer, refused
from results import operation

START = datetime(2021, 6, 8, 2, 10, 9, tzinfo=timezone.utc)
EXPIRY = datetime(2031, 6, 8, 3, 10, 9, tzinfo=timezone.utc)


def policy(permission="r", start=START, expiry=EXPIRY):
    return TableAccessPolicy(start=start, expiry=expiry, permission=permission)


def terms(stored):
    """Policies as plain tuples, since the SDK's class has no equality."""
    return {name: found and (found.start, found.expiry, found.permission) for name, found in stored.items()}


@operation("GetTableAcl")
def test_a_new_table_has_no_policies(table):
    assert table.get_table_access_policy() == {}


@operation("SetTableAcl")
def test_policies_are_read_back(table):
    answer = Answer()
    table.set_table_access_policy({"one": policy("r"), "two": policy("raud")}, raw_response_hook=answer)
    assert answer.status == 204
    assert terms(table.get_table_access_policy()) == {"one": (START, EXPIRY, "r"), "two": (START, EXPIRY, "raud")}


@operation("GetTableAcl")
def test_dates_come_back_with_seven_digits(table):
    table.set_table_access_policy({"one": policy()})
    found = table.get_table_access_policy()["one"]
    assert found.start.tables_service_value == "2021-06-08T02:10:09.0000000Z"
    assert found.expiry.tables_service_value == "2031-06-08T03:10:09.0000000Z"


@operation("SetTableAcl")
def test_setting_replaces_the_whole_list(table):
    table.set_table_access_policy({"one": policy(), "two": policy()})
    table.set_table_access_policy({"three": policy("a")})
    assert terms(table.get_table_access_policy()) == {"three": (START, EXPIRY, "a")}


@operation("SetTableAcl")
def test_an_empty_list_clears_the_policies(table):
    table.set_table_access_policy({"one": policy()})
    table.set_table_access_policy({})
    assert table.get_table_access_policy() == {}


@operation("SetTableAcl")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(policy(start=None), (None, EXPIRY, "r"), id="without_start"),
        pytest.param(policy(expiry=None), (START, None, "r"), id="without_expiry"),
        pytest.param(policy(permission=None), (START, EXPIRY, None), id="without_permission"),
    ],
)
def test_a_policy_may_leave_terms_open(table, given, expected):
    table.set_table_access_policy({"one": given})
    assert terms(table.get_table_access_policy()) == {"one": expected}


@operation("SetTableAcl")
def test_a_policy_may_be_only_a_name(table):
    table.set_table_access_policy({"one": None})
    stored = table.get_table_access_policy()
    assert list(stored) == ["one"]
    # With an empty AccessPolicy element the SDK makes an empty policy, without one it makes None.
    assert terms(stored)["one"] in (None, (None, None, None))


@operation("SetTableAcl")
def test_five_policies_are_accepted(table):
    table.set_table_access_policy({f"policy{number}": policy() for number in range(5)})
    assert sorted(table.get_table_access_policy()) == [f"policy{number}" for number in range(5)]


@operation("SetTableAcl")
def test_six_policies_are_refused(table):
    answer = Answer()
    # The SDK recognises the refusal and raises ValueError with its own explanation.
    with pytest.raises(ValueError, match="Too many access policies"):
        table.set_table_access_policy({f"policy{number}": policy() for number in range(6)}, raw_response_hook=answer)
    assert answer.status == 400
    assert table.get_table_access_policy() == {}


@operation("SetTableAcl")
def test_a_policy_name_of_64_characters_is_accepted(table):
    table.set_table_access_policy({"n" * 64: policy()})
    assert list(table.get_table_access_policy()) == ["n" * 64]


@operation("SetTableAcl")
def test_a_policy_name_of_65_characters_is_refused(table):
    with refused(400):
        table.set_table_access_policy({"n" * 65: policy()})


@operation("SetTableAcl")
def test_a_policy_name_may_need_escaping(table):
    table.set_table_access_policy({"a<b>&'\"é": policy()})
    assert list(table.get_table_access_policy()) == ["a<b>&'\"é"]


@operation("GetTableAcl")
def test_policies_of_a_missing_table_are_not_found(missing_table):
    with pytest.raises(ResourceNotFoundError):
        missing_table.get_table_access_policy()


@operation("SetTableAcl")
def test_policies_cannot_be_set_on_a_missing_table(missing_table):
    with pytest.raises(ResourceNotFoundError):
        missing_table.set_table_access_policy({"one": policy()})


@operation("SetTableAcl")
def test_policies_leave_the_data_alone(table, entity):
    etag = table.create_entity(entity)["etag"]
    table.set_table_access_policy({"one": policy()})
    assert table.get_entity("p", "r").metadata["etag"] == etag
