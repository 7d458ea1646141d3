package tablerock.conformance.tables;

import static com.azure.data.tables.models.TableEntityUpdateMode.MERGE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Refusals.assertRefusedWith;
import static tablerock.conformance.tables.Rows.comparable;
import static tablerock.conformance.tables.Rows.row;
import static tablerock.conformance.tables.Rows.values;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

class LimitsTest extends Case {
    private static final String EMOJI = "\uD83D\uDE00";

    private static Map<String, Object> numbered(int count, Object value) {
        Map<String, Object> properties = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            properties.put("P" + i, value);
        }
        return properties;
    }

    static Stream<Arguments> accepted() {
        return Stream.of(
            arguments("252 properties", numbered(252, 1)),
            arguments("a string of 32768 characters", Map.of("Value", "x".repeat(32768))),
            arguments("a binary of 65536 bytes", Map.of("Value", new byte[65536])),
            arguments("a property name of 255 characters", Map.of("n".repeat(255), "x")),
            arguments("a property name beyond ascii", Map.of("Größe_1", "x")));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("InsertEntity")
    @MethodSource("accepted")
    void insertAccepts(String description, Map<String, Object> properties) {
        table.createEntity(row("p", "r", properties));
        Map<String, Object> expected = new TreeMap<>(properties);
        expected.replaceAll((name, value) -> comparable(value));
        assertEquals(expected, values(table.getEntity("p", "r")));
    }

    static Stream<Arguments> refused() {
        return Stream.of(
            arguments("253 properties", numbered(253, 1), "TooManyProperties"),
            arguments("a string of 32769 characters", Map.of("Value", "x".repeat(32769)), "PropertyValueTooLarge"),
            arguments("a string of 16385 emoji", Map.of("Value", EMOJI.repeat(16385)), "PropertyValueTooLarge"),
            arguments("a binary of 65537 bytes", Map.of("Value", new byte[65537]), "PropertyValueTooLarge"),
            arguments("a property name of 256 characters", Map.of("n".repeat(256), "x"), "PropertyNameTooLong"),
            arguments("a property name with a dash", Map.of("a-b", "x"), "PropertyNameInvalid"),
            arguments("a property name with a space", Map.of("a b", "x"), "PropertyNameInvalid"),
            arguments("a property name with a leading digit", Map.of("1a", "x"), "PropertyNameInvalid"),
            arguments("an entity over one mebibyte", numbered(17, "x".repeat(32768)), "EntityTooLarge"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("InsertEntity")
    @MethodSource("refused")
    void insertRefuses(String description, Map<String, Object> properties, String code) {
        assertRefused(400, code, () -> table.createEntity(row("p", "r", properties)));
        assertEquals(List.of(), rowKeys(null), "a refused entity is not stored");
    }

    @Test
    @Operation("InsertEntity")
    void insertAcceptsKeysOf512Characters() {
        String key = "k".repeat(512);
        table.createEntity(row(key, key));
        assertEquals(key, table.getEntity(key, key).getRowKey());
    }

    /** The documents and the service disagree on the code, not on the refusal. */
    @Test
    @Operation("InsertEntity")
    void insertRefusesAKeyOf2048Characters() {
        assertRefusedWith(() -> table.createEntity(row("p", "k".repeat(2048))), 400);
    }

    @Test
    @Operation("InsertEntity")
    void insertRefusesABodyOverFourMebibytes() {
        assertRefused(413, "RequestBodyTooLarge",
            () -> table.createEntity(row("p", "r", Map.of("Value", "x".repeat(5 << 20)))));
    }

    /** Limits hold for what a merge leaves behind, not for what it sends. */
    @Test
    @Operation("MergeEntity")
    void mergeCountsThePropertiesAlreadyThere() {
        table.createEntity(row("p", "r", numbered(252, 1)));
        assertRefused(400, "TooManyProperties", () -> table.updateEntity(row("p", "r", Map.of("OneMore", "x")), MERGE));
        assertEquals(252, values(table.getEntity("p", "r")).size());
    }
}
