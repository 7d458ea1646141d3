package tablerock.conformance.tables;

import static com.azure.data.tables.models.TableTransactionActionType.CREATE;
import static com.azure.data.tables.models.TableTransactionActionType.DELETE;
import static com.azure.data.tables.models.TableTransactionActionType.UPDATE_MERGE;
import static com.azure.data.tables.models.TableTransactionActionType.UPDATE_REPLACE;
import static com.azure.data.tables.models.TableTransactionActionType.UPSERT_MERGE;
import static com.azure.data.tables.models.TableTransactionActionType.UPSERT_REPLACE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static tablerock.conformance.tables.Rows.comparable;
import static tablerock.conformance.tables.Rows.row;
import static tablerock.conformance.tables.Rows.values;

import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionResponse;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

class TransactionsTest extends Case {
    @Test
    @Operation("EntityGroupTransaction")
    void transactionTakesEveryKindOfOperation() {
        for (String key : List.of("merge", "replace", "delete", "upsert-merge", "upsert-replace")) {
            table.createEntity(row("p", key, Map.of("Old", "1")));
        }
        Map<String, Object> changed = Map.of("New", "2");
        var result = table.submitTransaction(List.of(
            new TableTransactionAction(CREATE, row("p", "add", changed)),
            new TableTransactionAction(UPDATE_MERGE, row("p", "merge", changed)),
            new TableTransactionAction(UPDATE_REPLACE, row("p", "replace", changed)),
            new TableTransactionAction(UPSERT_MERGE, row("p", "upsert-merge", changed)),
            new TableTransactionAction(UPSERT_MERGE, row("p", "upsert-merge-new", changed)),
            new TableTransactionAction(UPSERT_REPLACE, row("p", "upsert-replace", changed)),
            new TableTransactionAction(UPSERT_REPLACE, row("p", "upsert-replace-new", changed)),
            new TableTransactionAction(DELETE, row("p", "delete"))));
        assertEquals(List.of(204, 204, 204, 204, 204, 204, 204, 204),
            result.getTransactionActionResponses().stream()
                .map(TableTransactionActionResponse::getStatusCode).toList());

        Map<String, Map<String, Object>> found = new TreeMap<>();
        list(null).forEach(entity -> found.put(entity.getRowKey(), values(entity)));
        Map<String, Object> merged = Map.of("Old", "1", "New", "2");
        assertEquals(Map.of("add", changed, "merge", merged, "replace", changed, "upsert-merge", merged,
            "upsert-merge-new", changed, "upsert-replace", changed, "upsert-replace-new", changed), found);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("EntityGroupTransaction")
    @MethodSource("tablerock.conformance.tables.TypesTest#typed")
    void transactionKeeps(String description, Object value) {
        table.submitTransaction(List.of(
            new TableTransactionAction(CREATE, row("p", "create", Map.of("Value", value))),
            new TableTransactionAction(UPSERT_MERGE, row("p", "merge", Map.of("Value", value)))));
        assertEquals(Map.of("Value", comparable(value)), values(table.getEntity("p", "create")));
        assertEquals(Map.of("Value", comparable(value)), values(table.getEntity("p", "merge")));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("EntityGroupTransaction")
    @MethodSource("tablerock.conformance.tables.KeysTest#odd")
    void transactionTakesKeyWith(String description, String key) {
        table.submitTransaction(List.of(new TableTransactionAction(CREATE, row(key, key)),
            new TableTransactionAction(UPSERT_REPLACE, row(key, "other"))));
        table.submitTransaction(List.of(new TableTransactionAction(UPDATE_MERGE, row(key, key, Map.of("Merged", true))),
            new TableTransactionAction(DELETE, row(key, "other"))));
        assertEquals(List.of(key), rowKeys(null));
        assertEquals(Map.of("Merged", true), values(table.getEntity(key, key)));
    }

    @Test
    @Operation("EntityGroupTransaction")
    void transactionTakesAHundredOperations() {
        addMany("p", 100);
        assertEquals(100, list(null).size());
    }

    @Test
    @Operation("EntityGroupTransaction")
    void transactionOfOneOperation() {
        table.submitTransaction(List.of(new TableTransactionAction(CREATE, row("p", "r"))));
        assertEquals(List.of("r"), rowKeys(null));
    }

    @Test
    @Operation("EntityGroupTransaction")
    void transactionHonoursCurrentEtags() {
        table.createEntity(row("p", "1"));
        table.createEntity(row("p", "2"));
        TableEntity first = table.getEntity("p", "1").addProperty("New", "2");
        table.submitTransaction(List.of(new TableTransactionAction(UPDATE_REPLACE, first, true),
            new TableTransactionAction(DELETE, table.getEntity("p", "2"), true)));
        assertEquals(List.of("1"), rowKeys(null));
        assertEquals(Map.of("New", "2"), values(table.getEntity("p", "1")));
    }
}
