package tablerock.conformance.tables;

import static com.azure.data.tables.models.TableEntityUpdateMode.MERGE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.comparable;
import static tablerock.conformance.tables.Rows.row;
import static tablerock.conformance.tables.Rows.values;

import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tablerock.conformance.Operation;

/** Every EDM type, written and read back. */
class TypesTest extends Case {
    static Stream<Arguments> typed() {
        return Stream.of(
            arguments("string", "Ada"),
            arguments("empty string", ""),
            arguments("string with quotes and escapes", "o'b \"x\" \\ / \b\f\n\r\t <&> %41 +"),
            arguments("string beyond ascii", "žluťoučký 漢字 \u2028 \uD83D\uDE00"),
            arguments("string with outer spaces", "  x  "),
            arguments("string that looks like a date", "2020-01-01T00:00:00Z"),
            arguments("int32 zero", 0),
            arguments("int32 maximum", Integer.MAX_VALUE),
            arguments("int32 minimum", Integer.MIN_VALUE),
            arguments("int64 small", 7L),
            arguments("int64 maximum", Long.MAX_VALUE),
            arguments("int64 minimum", Long.MIN_VALUE),
            arguments("double", 0.1),
            arguments("double that is whole", 3.0),
            arguments("double that is zero", 0.0),
            arguments("double that is negative", -1234.5678),
            arguments("double that is large and whole", 1e20),
            arguments("double maximum", Double.MAX_VALUE),
            arguments("double smallest", Double.MIN_VALUE),
            arguments("true", true),
            arguments("false", false),
            arguments("datetime of a whole second", OffsetDateTime.parse("2020-02-29T23:59:59Z")),
            arguments("datetime with seven digits", OffsetDateTime.parse("2020-01-02T03:04:05.1234567Z")),
            arguments("datetime first", OffsetDateTime.parse("1601-01-01T00:00:00Z")),
            arguments("datetime last", OffsetDateTime.parse("9999-12-31T23:59:59.9999999Z")),
            arguments("guid", UUID.fromString("c9da6455-213d-42c9-9a79-3e9149a57833")),
            arguments("binary", allBytes()),
            arguments("empty binary", new byte[0]));
    }

    private static byte[] allBytes() {
        byte[] bytes = new byte[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    /** All of the values above as the properties of one entity. */
    static Map<String, Object> everyType() {
        Map<String, Object> properties = new TreeMap<>();
        typed().map(Arguments::get).forEach(each -> properties.put(each[0].toString().replace(' ', '_'), each[1]));
        return properties;
    }

    static Map<String, Object> everyTypeComparable() {
        Map<String, Object> properties = everyType();
        properties.replaceAll((name, value) -> comparable(value));
        return properties;
    }

    @ParameterizedTest(name = "{0}")
    @Operation("InsertEntity")
    @MethodSource("typed")
    void insertKeeps(String description, Object value) {
        table.createEntity(row("p", "r", Map.of("Value", value)));
        assertEquals(Map.of("Value", comparable(value)), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("MergeEntity")
    void mergeKeepsEveryType() {
        table.createEntity(row("p", "r"));
        everyType().forEach((name, value) -> table.updateEntity(row("p", "r", Map.of(name, value)), MERGE));
        assertEquals(everyTypeComparable(), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("QueryEntities")
    void queryReturnsEveryType() {
        table.createEntity(row("p", "r", everyType()));
        assertEquals(List.of(everyTypeComparable()), list(null).stream().map(Rows::values).toList());
    }

    /** The SDK reads these but writes them as strings, unless the annotation is given by hand. */
    @ParameterizedTest(name = "{0}")
    @Operation("InsertEntity")
    @CsvSource({"not a number, NaN", "infinity, Infinity", "minus infinity, -Infinity"})
    void insertKeepsDoubleThatIs(String description, String value) {
        table.createEntity(row("p", "r", Map.of("Value", value, "Value@odata.type", "Edm.Double")));
        assertEquals(Map.of("Value", Double.parseDouble(value)), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("InsertEntity")
    void offsetOfADatetimeIsConverted() {
        table.createEntity(row("p", "r",
            Map.of("Value", "2020-01-02T03:04:05+02:00", "Value@odata.type", "Edm.DateTime")));
        assertEquals(Map.of("Value", OffsetDateTime.parse("2020-01-02T01:04:05Z")), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("InsertEntity")
    void integerDeclaredDoubleBecomesDouble() {
        table.createEntity(row("p", "r", Map.of("Value", 3, "Value@odata.type", "Edm.Double")));
        assertEquals(Map.of("Value", 3.0), values(table.getEntity("p", "r")));
    }

    static Stream<Arguments> unfit() {
        return Stream.of(
            arguments("that is no int64", "Edm.Int64", "seven", "InvalidInput"),
            arguments("that is no guid", "Edm.Guid", "not-a-guid", "InvalidInput"),
            arguments("that is no datetime", "Edm.DateTime", "yesterday", "InvalidInput"),
            arguments("that is no base64", "Edm.Binary", "***", "InvalidInput"),
            arguments("of an unknown type", "Edm.Decimal", "1.5", "InvalidInput"),
            arguments("before the year 1601", "Edm.DateTime", "1600-12-31T23:59:59Z", "OutOfRangeInput"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("InsertEntity")
    @MethodSource("unfit")
    void insertRefusesValue(String description, String type, String value, String code) {
        assertRefused(400, code,
            () -> table.createEntity(row("p", "r", Map.of("Value", value, "Value@odata.type", type))));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("InsertEntity")
    @ValueSource(strings = {"object", "array"})
    void insertRefusesJson(String kind) {
        Object value = kind.equals("object") ? Map.of("a", 1) : List.of(1);
        assertRefused(400, "InvalidInput", () -> table.createEntity(row("p", "r", Map.of("Value", value))));
    }
}
