package tablerock.conformance.tables;

import static com.azure.data.tables.models.TableTransactionActionType.CREATE;
import static com.azure.data.tables.models.TableTransactionActionType.DELETE;
import static com.azure.data.tables.models.TableTransactionActionType.UPDATE_MERGE;
import static com.azure.data.tables.models.TableTransactionActionType.UPDATE_REPLACE;
import static com.azure.data.tables.models.TableTransactionActionType.UPSERT_REPLACE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.tables.Refusals.assertBroken;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;

import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionFailedException;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

class TransactionFailuresTest extends Case {
    static Stream<Arguments> failing() {
        String stale = "W/\"datetime'2001-01-01T00%3A00%3A00Z'\"";
        return Stream.of(
            arguments("an entity that exists", new TableTransactionAction(CREATE, row("p", "present")),
                "EntityAlreadyExists"),
            arguments("a merge of a missing entity", new TableTransactionAction(UPDATE_MERGE, row("p", "missing")),
                "ResourceNotFound"),
            arguments("a replace of a missing entity", new TableTransactionAction(UPDATE_REPLACE, row("p", "missing")),
                "ResourceNotFound"),
            arguments("a delete of a missing entity", new TableTransactionAction(DELETE, row("p", "missing")),
                "ResourceNotFound"),
            arguments("a stale etag",
                new TableTransactionAction(UPDATE_REPLACE, row("p", "present", Map.of("odata.etag", stale)), true),
                "UpdateConditionNotSatisfied"),
            arguments("a row that comes twice", new TableTransactionAction(UPSERT_REPLACE, row("p", "second")),
                "InvalidDuplicateRow"),
            arguments("another partition", new TableTransactionAction(UPSERT_REPLACE, row("q", "third")),
                "CommandsInBatchActOnDifferentPartitions"),
            arguments("a forbidden key character", new TableTransactionAction(CREATE, row("p", "a#b")),
                "OutOfRangeInput"),
            arguments("a property that is too large",
                new TableTransactionAction(CREATE, row("p", "third", Map.of("Value", "x".repeat(32769)))),
                "PropertyValueTooLarge"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("EntityGroupTransaction")
    @MethodSource("failing")
    void transactionFailsOn(String description, TableTransactionAction failing, String code) {
        table.createEntity(row("p", "present", Map.of("Old", "1")));
        assertBroken(2, code, () -> table.submitTransaction(List.of(
            new TableTransactionAction(CREATE, row("p", "first")),
            new TableTransactionAction(UPSERT_REPLACE, row("p", "second")),
            failing,
            new TableTransactionAction(CREATE, row("p", "fourth")))));
        assertEquals(List.of("present"), rowKeys(null), "a failed transaction leaves nothing behind");
    }

    @Test
    @Operation("EntityGroupTransaction")
    void transactionInMissingTableIsNotFound() {
        assertBroken(0, "TableNotFound", () -> missingTable().submitTransaction(List.of(
            new TableTransactionAction(CREATE, row("p", "1")), new TableTransactionAction(CREATE, row("p", "2")))));
    }

    /** The service has been seen to blame the first operation and the hundredth. */
    @Test
    @Operation("EntityGroupTransaction")
    void transactionOf101OperationsIsRefused() {
        List<TableTransactionAction> actions = IntStream.range(0, 101)
            .mapToObj(i -> new TableTransactionAction(CREATE, row("p", "" + i))).toList();
        var failure = assertThrows(TableTransactionFailedException.class, () -> table.submitTransaction(actions));
        assertEquals("InvalidInput", failure.getValue().getErrorCode().toString());
        assertTrue(List.of(0, 99).contains(failure.getFailedTransactionActionIndex()));
        assertEquals(List.of(), rowKeys(null));
    }

    @Test
    @Operation("EntityGroupTransaction")
    void transactionOverFourMebibytesIsRefused() {
        Map<String, Object> large = Map.of("Value", "x".repeat(25_000), "Other", "y".repeat(25_000));
        List<TableTransactionAction> actions = IntStream.range(0, 90)
            .mapToObj(i -> new TableTransactionAction(CREATE, row("p", "" + i, large))).toList();
        assertRefused(413, "RequestBodyTooLarge", () -> table.submitTransaction(actions));
        assertEquals(List.of(), rowKeys(null));
    }
}
