package tablerock.conformance.tables;

import static com.azure.data.tables.models.TableEntityUpdateMode.MERGE;
import static com.azure.data.tables.models.TableEntityUpdateMode.REPLACE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;
import static tablerock.conformance.tables.Rows.values;

import com.azure.data.tables.models.TableEntity;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

class KeysTest extends Case {
    static Stream<Arguments> odd() {
        return Stream.of(
            arguments("an apostrophe", "o'b"),
            arguments("two apostrophes", "''"),
            arguments("a double quote", "say \"hi\""),
            arguments("a space", "a b"),
            arguments("outer spaces", " a "),
            arguments("a percent sign", "100%"),
            arguments("a percent escape", "%2F%27"),
            arguments("a plus", "1+1"),
            arguments("an ampersand and an equals sign", "a&b=c"),
            arguments("parentheses and a comma", "f(x,y)"),
            arguments("a key predicate", "',RowKey='x"),
            arguments("other punctuation", "!$*:;@[]{}|^~`<>.,_-"),
            arguments("accents", "žluťoučký kůň"),
            arguments("an emoji", "\uD83D\uDE00"),
            arguments("no characters", ""));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("QueryEntity")
    @MethodSource("odd")
    void everyOperationTakesKeyWith(String description, String key) {
        table.createEntity(row(key, key, Map.of("Value", "1")));
        table.updateEntity(row(key, key, Map.of("Merged", "1")), MERGE);
        table.upsertEntity(row(key, key, Map.of("Upserted", "1")));

        TableEntity stored = table.getEntity(key, key);
        assertEquals(List.of(key, key), List.of(stored.getPartitionKey(), stored.getRowKey()));
        assertEquals(Map.of("Value", "1", "Merged", "1", "Upserted", "1"), values(stored));

        table.deleteEntity(key, key);
        assertEquals(List.of(), rowKeys(null));
    }

    @Test
    @Operation("QueryEntities")
    void emptyKeysCanBeQueried() {
        table.createEntity(row("", "", Map.of("Value", "1")));
        assertEquals(List.of(""), rowKeys("PartitionKey eq '' and RowKey eq ''"));
    }

    @Test
    @Operation("InsertEntity")
    void keysThatDifferInCaseAreDifferent() {
        table.createEntity(row("p", "key", Map.of("Value", "lower")));
        table.createEntity(row("p", "KEY", Map.of("Value", "upper")));
        assertEquals(Map.of("Value", "lower"), values(table.getEntity("p", "key")));
        assertEquals(Map.of("Value", "upper"), values(table.getEntity("p", "KEY")));
    }

    static Stream<Arguments> forbidden() {
        return Stream.of(
            arguments("a slash", "a/b"),
            arguments("a backslash", "a\\b"),
            arguments("a hash", "a#b"),
            arguments("a question mark", "a?b"),
            arguments("a tab", "a\tb"),
            arguments("a line feed", "a\nb"),
            arguments("a zero", "a\u0000b"),
            arguments("a delete character", "a\u007fb"),
            arguments("a c1 control character", "a\u0085b"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("InsertEntity")
    @MethodSource("forbidden")
    void insertRefusesKeyWith(String description, String key) {
        assertRefused(400, "OutOfRangeInput", () -> table.createEntity(row(key, "r")));
        assertRefused(400, "OutOfRangeInput", () -> table.createEntity(row("p", key)));
    }

    static Stream<Arguments> forbiddenInAddress() {
        return Stream.of(
            arguments("a slash", "a/b", "InvalidInput"),
            arguments("a backslash", "a\\b", "InvalidInput"),
            arguments("a hash", "a#b", "OutOfRangeInput"),
            arguments("a question mark", "a?b", "OutOfRangeInput"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("InsertOrReplaceEntity")
    @MethodSource("forbiddenInAddress")
    void upsertRefusesKeyWith(String description, String key, String code) {
        assertRefused(400, code, () -> table.upsertEntityWithResponse(row("p", key), REPLACE, null, null));
    }
}
