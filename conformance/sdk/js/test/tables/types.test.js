// Every EDM type goes in and comes out exactly.

import assert from "node:assert/strict";

import { conform, freshTable, properties, refused, responseOf } from "../../harness/index.js";

const keys = { partitionKey: "p", rowKey: "r" };

/** Stores the value and reads it back as the SDK converts it. */
async function roundTrip(t, value) {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, value });
  return (await table.getEntity("p", "r")).value;
}

/** Stores the value and reads it back with its EDM type and text untouched. */
async function roundTripTyped(t, value) {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, value });
  return (await table.getEntity("p", "r", { disableTypeConversion: true })).value;
}

/** Stores the value and returns its JSON token as the service wrote it. */
async function roundTripToken(t, value) {
  const table = await freshTable(t);
  await table.createEntity({ ...keys, value });
  const { bodyAsText } = await responseOf((options) => table.getEntity("p", "r", options));
  return bodyAsText.match(/"value":([^,}]+)/)[1];
}

for (const [what, value] of [
  ["empty_string", ""],
  ["string_of_spaces", "  a  "],
  ["string_with_quotes_and_backslashes", `'single' "double" \\back\\ /slash/`],
  ["string_with_line_breaks_and_tabs", "line\r\nbreak\ttab"],
  ["string_beyond_the_basic_plane", "naïve 東京 🦀 e\u0301 \u{10ffff}"],
  ["string_that_looks_like_a_date", "2024-01-01T00:00:00Z"],
  ["string_that_looks_like_a_guid", "0d9df4a2-2a9e-4d52-9b4f-1c5a4ec3f8a1"],
  ["int32_minimum", -2147483648],
  ["int32_maximum", 2147483647],
  ["int32_zero", 0],
  ["int64_minimum", -9223372036854775808n],
  ["int64_maximum", 9223372036854775807n],
  ["int64_in_the_range_of_int32", 7n],
  ["int64_beyond_exact_doubles", 9007199254740993n],
  ["double_with_a_fraction", 0.1],
  ["double_negative", -123.456],
  ["double_smallest", 5e-324],
  ["double_largest", 1.7976931348623157e308],
  ["double_with_an_exponent", 1e-7],
  ["boolean_true", true],
  ["boolean_false", false],
  ["date", new Date("2024-02-29T12:34:56.789Z")],
  ["date_before_1970", new Date("1905-12-31T23:59:59.999Z")],
  ["guid", { type: "Guid", value: "0d9df4a2-2a9e-4d52-9b4f-1c5a4ec3f8a1" }],
  ["binary", Uint8Array.from({ length: 256 }, (_, byte) => byte)],
  ["binary_empty", new Uint8Array(0)],
]) {
  conform("InsertEntity", `${what}_round_trips`, async (t) => {
    const returned = await roundTrip(t, value);
    const expected = value instanceof Uint8Array ? Buffer.from(value) : value;
    assert.deepEqual(returned instanceof Uint8Array ? Buffer.from(returned) : returned, expected);
  });
}

for (const [what, sent, expected = sent] of [
  ["int64", { type: "Int64", value: "9223372036854775807" }],
  ["double_not_a_number", { type: "Double", value: "NaN" }],
  ["double_infinity", { type: "Double", value: "Infinity" }],
  ["double_negative_infinity", { type: "Double", value: "-Infinity" }],
  ["double_given_as_text", { type: "Double", value: "1.5" }],
  ["int32_given_as_text", { type: "Int32", value: "42" }],
  ["string_given_with_its_type", { type: "String", value: "text" }],
  ["guid_in_lower_case", { type: "Guid", value: "0d9df4a2-2a9e-4d52-9b4f-1c5a4ec3f8a1" }],
  [
    "guid_in_upper_case",
    { type: "Guid", value: "0D9DF4A2-2A9E-4D52-9B4F-1C5A4EC3F8A1" },
    { type: "Guid", value: "0d9df4a2-2a9e-4d52-9b4f-1c5a4ec3f8a1" },
  ],
  ["binary_as_base64", { type: "Binary", value: "AAECAwT/" }],
  ["datetime_of_seven_digits", { type: "DateTime", value: "2024-02-29T12:34:56.1234567Z" }],
  ["datetime_earliest", { type: "DateTime", value: "1601-01-01T00:00:00Z" }],
  ["datetime_latest", { type: "DateTime", value: "9999-12-31T23:59:59.9999999Z" }],
  [
    "datetime_with_trailing_zeros",
    { type: "DateTime", value: "2012-01-01T01:02:03.1200000Z" },
    { type: "DateTime", value: "2012-01-01T01:02:03.12Z" },
  ],
  [
    "datetime_with_an_empty_fraction",
    { type: "DateTime", value: "2012-01-01T01:02:00.0000000Z" },
    { type: "DateTime", value: "2012-01-01T01:02:00Z" },
  ],
  [
    "datetime_with_an_offset",
    { type: "DateTime", value: "2024-06-01T12:00:00+02:00" },
    { type: "DateTime", value: "2024-06-01T10:00:00Z" },
  ],
]) {
  conform("QueryEntity", `${what}_comes_back_with_its_type_and_text`, async (t) => {
    assert.deepEqual(await roundTripTyped(t, sent), expected);
  });
}

// A reader tells Double from Int32 by the point or the exponent alone, and the SDK hides both.
for (const [what, sent, value] of [
  ["whole_double", { type: "Double", value: "3.0" }, 3],
  ["whole_double_with_an_exponent", 1e21, 1e21],
  ["bare_integer_beyond_int32", 5454161346626, 5454161346626],
]) {
  conform("InsertEntity", `${what}_is_written_as_a_double`, async (t) => {
    const token = await roundTripToken(t, sent);
    assert.equal(Number(token), value);
    assert.match(token, /[.eE]/);
  });
}

conform("InsertEntity", "entity_read_without_conversion_can_be_written_back", async (t) => {
  const table = await freshTable(t);
  const values = {
    text: "text",
    int32: 42,
    int64: 9007199254740993n,
    double: 1.5,
    flag: true,
    date: new Date("2024-02-29T12:34:56.789Z"),
    guid: { type: "Guid", value: "0d9df4a2-2a9e-4d52-9b4f-1c5a4ec3f8a1" },
    binary: Buffer.from([1, 2, 3]),
  };
  await table.createEntity({ ...keys, ...values });
  const typed = await table.getEntity("p", "r", { disableTypeConversion: true });
  await table.createEntity({ ...keys, rowKey: "copy", ...properties(typed) });
  const { binary, ...copy } = properties(await table.getEntity("p", "copy"));
  assert.deepEqual({ ...copy, binary: Buffer.from(binary) }, values);
});

conform("QueryEntities", "query_without_conversion_names_every_type", async (t) => {
  const table = await freshTable(t);
  await table.createEntity({
    ...keys, text: "text", int32: 42, int64: 42n, double: 1.5, flag: true, date: new Date(1), binary: Buffer.from("x"),
  });
  const { value: entity } = await table.listEntities({ disableTypeConversion: true }).next();
  assert.deepEqual(properties(entity), {
    text: { type: "String", value: "text" },
    int32: { type: "Int32", value: "42" },
    int64: { type: "Int64", value: "42" },
    double: { type: "Double", value: "1.5" },
    flag: { type: "Boolean", value: "true" },
    date: { type: "DateTime", value: "1970-01-01T00:00:00.001Z" },
    binary: { type: "Binary", value: "eA==" },
  });
});

for (const [what, value, code] of [
  ["datetime_before_1601", { type: "DateTime", value: "1600-12-31T23:59:59Z" }, "OutOfRangeInput"],
  ["datetime_that_is_none", { type: "DateTime", value: "yesterday" }, "InvalidInput"],
  ["guid_that_is_none", { type: "Guid", value: "not-a-guid" }, "InvalidInput"],
  ["int64_out_of_range", { type: "Int64", value: "9223372036854775808" }, "InvalidInput"],
  ["int32_out_of_range", { type: "Int32", value: "2147483648" }, "InvalidInput"],
  ["double_out_of_range", { type: "Double", value: "13e7705" }, "InvalidInput"],
  ["binary_that_is_no_base64", { type: "Binary", value: "***" }, "InvalidInput"],
]) {
  conform("InsertEntity", `${what}_is_refused`, async (t) => {
    const table = await freshTable(t);
    await refused(table.createEntity({ ...keys, value }), 400, code);
  });
}
