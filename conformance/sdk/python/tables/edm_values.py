"""Values of every EDM type, chosen where types are easily lost, and a comparison that sees types."""

import math
import uuid
from datetime import datetime, timedelta, timezone

from azure.data.tables import EdmType, EntityProperty

UTC = timezone.utc
EAST = timezone(timedelta(hours=5, minutes=30))
GUID = uuid.UUID("c9da6455-213d-42c9-9a79-3e9149a57833")

VALUES = {
    "string": "plain",
    "empty_string": "",
    "string_of_spaces": "  ",
    "string_with_quotes": 'it\'s "quoted" \\ escaped',
    "string_with_control_characters": "tab\tline\nreturn\rbell\x07",
    "string_of_many_scripts": "Größe 日本語 עברית",
    "string_with_emoji": "😀👩‍👩‍👧",
    "string_like_a_date": "2020-01-01T00:00:00Z",
    "string_like_a_guid": str(GUID),
    "string_like_a_number": "007",
    "string_like_markup": "<a href='x'>&amp;</a>",
    "int32": 42,
    "int32_zero": 0,
    "int32_largest": 2**31 - 1,
    "int32_smallest": -(2**31),
    "int64_small": EntityProperty(5, EdmType.INT64),
    "int64_beyond_a_double": EntityProperty(2**53 + 1, EdmType.INT64),
    "int64_largest": EntityProperty(2**63 - 1, EdmType.INT64),
    "int64_smallest": EntityProperty(-(2**63), EdmType.INT64),
    "double": 1.5,
    "double_whole": 3.0,
    "double_zero": 0.0,
    "double_negative_whole": -12.0,
    "double_whole_beyond_int64": 1e21,
    "double_of_one_tenth": 0.1,
    "double_of_seventeen_digits": 123456789.12345679,
    "double_largest": 1.7976931348623157e308,
    "double_smallest_normal": 2.2250738585072014e-308,
    "double_infinity": math.inf,
    "double_negative_infinity": -math.inf,
    "boolean_true": True,
    "boolean_false": False,
    "datetime_whole_second": datetime(2021, 6, 7, 8, 9, 10, tzinfo=UTC),
    "datetime_with_microseconds": datetime(2021, 6, 7, 8, 9, 10, 123456, tzinfo=UTC),
    "datetime_with_trailing_zeros": datetime(2021, 6, 7, 8, 9, 10, 120000, tzinfo=UTC),
    "datetime_in_another_zone": datetime(2021, 6, 7, 1, 2, 3, tzinfo=EAST),
    "datetime_before_1970": datetime(1899, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "datetime_first": datetime(1601, 1, 1, tzinfo=UTC),
    "datetime_last": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    "guid": GUID,
    "guid_of_zeros": uuid.UUID(int=0),
    "binary": bytes(range(256)),
    "binary_empty": b"",
    "binary_one_zero": b"\x00",
}


def assert_same(found, sent):
    """Equality that also looks at the type, since in Python 3 == 3.0 and 1 == True."""
    if isinstance(sent, datetime):
        assert isinstance(found, datetime)
    else:
        assert type(found) is type(sent)
    assert found == sent
