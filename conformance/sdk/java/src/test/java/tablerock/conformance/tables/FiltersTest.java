package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;
import static tablerock.conformance.tables.Rows.values;

import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import java.time.OffsetDateTime;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

class FiltersTest extends Case {
    /** The people that the filters choose from; the RowKey names the answer. */
    @BeforeEach
    void addPeople() {
        table.createEntity(row("people", "ada", Map.of("Name", "Ada", "Age", 36, "Steps", 5_000_000_000L,
            "Height", 1.65, "Active", true, "Born", OffsetDateTime.parse("1815-12-10T00:00:00Z"),
            "Key", new byte[] {0, (byte) 0xff}, "Id", UUID.fromString("11111111-1111-1111-1111-111111111111"),
            "Nick", "o'b + ♥")));
        table.createEntity(row("people", "bob", Map.of("Name", "Bob", "Age", -5, "Steps", 7L, "Height", 2.5,
            "Active", false, "Born", OffsetDateTime.parse("2020-01-02T03:04:05.1234567Z"), "Key", new byte[] {1},
            "Id", UUID.fromString("22222222-2222-2222-2222-222222222222"), "Nick", "")));
        table.createEntity(row("people", "cyd", Map.of("Name", "ada")));
    }

    static Stream<Arguments> filters() {
        return Stream.of(
            arguments("string equality", "Name eq 'Ada'", "ada"),
            arguments("string order that is ordinal", "Name lt 'a'", "ada bob"),
            arguments("string with apostrophe plus and symbol", "Nick eq 'o''b + ♥'", "ada"),
            arguments("empty string", "Nick eq ''", "bob"),
            arguments("int32 equality", "Age eq 36", "ada"),
            arguments("negative int32", "Age eq -5", "bob"),
            arguments("int32 range", "Age gt -5 and Age le 36", "ada"),
            arguments("int64 equality", "Steps eq 5000000000L", "ada"),
            arguments("int64 order", "Steps ge 7L", "ada bob"),
            arguments("int64 against an int32 literal", "Steps lt 8", "bob"),
            arguments("double equality", "Height eq 2.5", "bob"),
            arguments("double with exponent", "Height lt 0.2e1", "ada"),
            arguments("double against an int32 literal", "Height gt 2", "bob"),
            arguments("true", "Active eq true", "ada"),
            arguments("false", "Active eq false", "bob"),
            arguments("not true", "Active ne true", "bob"),
            arguments("datetime equality to 100 ns", "Born eq datetime'2020-01-02T03:04:05.1234567Z'", "bob"),
            arguments("datetime order", "Born lt datetime'1900-01-01T00:00:00Z'", "ada"),
            arguments("guid equality", "Id eq guid'22222222-2222-2222-2222-222222222222'", "bob"),
            arguments("guid inequality", "Id ne guid'22222222-2222-2222-2222-222222222222'", "ada"),
            arguments("binary with X prefix", "Key eq X'00ff'", "ada"),
            arguments("binary with its name", "Key eq binary'01'", "bob"),
            arguments("binary order", "Key gt X'00ff'", "bob"),
            arguments("partition key", "PartitionKey eq 'people'", "ada bob cyd"),
            arguments("another partition key", "PartitionKey eq 'others'", ""),
            arguments("row key range", "RowKey ge 'b' and RowKey lt 'c'", "bob"),
            arguments("both keys", "PartitionKey eq 'people' and RowKey eq 'cyd'", "cyd"),
            arguments("timestamp", "Timestamp gt datetime'2015-01-01T00:00:00Z'", "ada bob cyd"),
            arguments("or", "Name eq 'Ada' or Name eq 'Bob'", "ada bob"),
            arguments("and before or", "Name eq 'ada' or Age eq 36 and Active eq false", "cyd"),
            arguments("parentheses", "(Name eq 'ada' or Age eq 36) and Active eq true", "ada"),
            arguments("not", "not (Name eq 'Ada')", "bob cyd"),
            arguments("not of and", "not (Age gt 0 and Active eq true)", "bob cyd"),
            arguments("literal on the left", "36 eq Age", "ada"),
            arguments("literal on the left in order", "0 gt Age", "bob"),
            arguments("property that some lack", "Age ne 1", "ada bob"),
            arguments("negated property that some lack", "not (Age eq 36)", "bob cyd"),
            arguments("property in the wrong case", "name eq 'Ada'", ""));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("QueryEntities")
    @MethodSource("filters")
    void filterBy(String description, String filter, String expected) {
        assertEquals(expected, String.join(" ", rowKeys(filter)));
    }

    /** Many comparisons are more than the documentation promises and less than the service takes. */
    @Test
    @Operation("QueryEntities")
    void filterTakesThirtyComparisons() {
        String filter = "RowKey eq 'ada' or " + String.join(" or ", Collections.nCopies(29, "RowKey eq 'cyd'"));
        assertEquals(List.of("ada", "cyd"), rowKeys(filter));
    }

    static Stream<Arguments> broken() {
        return Stream.of(
            arguments("a syntax error", "Name eq 'a'b'", 400, "InvalidInput"),
            arguments("an unterminated string", "Name eq 'a", 400, "InvalidInput"),
            arguments("a missing operand", "Name eq", 400, "InvalidInput"),
            arguments("a bad datetime", "Born eq datetime'yesterday'", 400, "InvalidInput"),
            arguments("a bad guid", "Id eq guid'1'", 400, "InvalidInput"),
            arguments("an integer beyond int32", "Steps eq 5000000000", 400, "InvalidInput"),
            arguments("operators in upper case", "Name EQ 'Ada'", 400, "InvalidInput"),
            arguments("a function", "startswith(Name,'A')", 501, "NotImplemented"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("QueryEntities")
    @MethodSource("broken")
    void filterIsRefusedFor(String description, String filter, int status, String code) {
        assertRefused(status, code, () -> list(filter));
    }

    @Test
    @Operation("QueryEntities")
    void queryOfMissingTableIsNotFound() {
        assertRefused(404, "TableNotFound", () -> missingTable().listEntities().stream().toList());
    }

    @Test
    @Operation("QueryEntities")
    void selectReturnsOnlyWhatIsNamed() {
        TableEntity found = select("RowKey", "Steps");
        assertEquals(Map.of("Steps", 7L), values(found));
        assertEquals("bob", found.getRowKey());
        assertNull(found.getPartitionKey());
        assertNull(found.getTimestamp());
        assertNotNull(found.getETag());
    }

    @Test
    @Operation("QueryEntities")
    void selectOfMissingPropertyIsNull() {
        TableEntity found = select("RowKey", "Missing");
        assertTrue(found.getProperties().containsKey("Missing"), "the property is there, without a value");
        assertNull(found.getProperty("Missing"));
    }

    private TableEntity select(String... names) {
        var options = new ListEntitiesOptions().setFilter("RowKey eq 'bob'").setSelect(List.of(names));
        return table.listEntities(options, null, null).stream().toList().get(0);
    }
}
