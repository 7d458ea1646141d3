package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static tablerock.conformance.tables.Rows.row;

import com.azure.core.http.rest.PagedResponse;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tablerock.conformance.Operation;

/** The Rust client of this repository and the SDK continue each other's work: its filters as text, and its pages. */
class RustClientTest extends Case {
    private static final List<String> ODD_KEYS =
        List.of("plain", "o'clock", "''", "100%41", "a+b&c=d", " two  spaces ", "naïve 日本語", "😀;:@~");

    /** What the client prints; CONFORMANCE_RUST_CLIENT names it as a program. */
    private static JsonNode rustClient(List<String> words) throws IOException, InterruptedException {
        String program = System.getenv("CONFORMANCE_RUST_CLIENT");
        assumeTrue(program != null && !program.isEmpty(), "CONFORMANCE_RUST_CLIENT is not set");
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(words);
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        byte[] printed = process.getInputStream().readAllBytes();
        assertEquals(0, process.waitFor(), String.join(" ", words));
        return new ObjectMapper().readTree(printed);
    }

    private static List<List<String>> keys(Iterable<TableEntity> entities) {
        List<List<String>> keys = new ArrayList<>();
        entities.forEach(entity -> keys.add(List.of(entity.getPartitionKey(), entity.getRowKey())));
        return keys;
    }

    private static List<List<String>> keys(JsonNode told) {
        List<List<String>> keys = new ArrayList<>();
        told.forEach(pair -> keys.add(List.of(pair.get(0).asText(), pair.get(1).asText())));
        return keys;
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"operators", "literals", "extremes", "keys", "nesting"})
    @Operation("QueryEntities")
    void filtersOfTheRustClientFindTheSame(String group) throws Exception {
        JsonNode filters = rustClient(List.of("filters", table.getTableName(), group));
        assertFalse(filters.isEmpty());
        for (JsonNode told : filters) {
            String filter = told.get("filter").asText();
            assertEquals(keys(told.get("keys")), keys(list(filter)), filter);
        }
    }

    @Test
    @Operation("QueryEntities")
    void theRustClientAndTheSdkPageInTurn() throws Exception {
        ODD_KEYS.forEach(key -> table.createEntity(row(key, key)));
        List<List<String>> found = new ArrayList<>();
        String token = "";
        while (token != null) {
            List<String> words = new ArrayList<>(List.of("page", table.getTableName(), "2"));
            if (!token.isEmpty()) {
                words.addAll(List.of(token.split(";", 2)));
            }
            JsonNode theirs = rustClient(words);
            found.addAll(keys(theirs.get("keys")));
            JsonNode next = theirs.get("next");
            if (next.isNull()) {
                break;
            }
            // A token of the SDK is the two keys, with a semicolon between them.
            String row = next.get("row").isNull() ? "" : ";" + next.get("row").asText();
            PagedResponse<TableEntity> page = table.listEntities(new ListEntitiesOptions().setTop(2), null, null)
                .iterableByPage(next.get("partition").asText() + row).iterator().next();
            found.addAll(keys(page.getValue()));
            token = page.getContinuationToken();
        }
        assertEquals(keys(list(null)), found);
        assertEquals(ODD_KEYS.size(), found.size());
    }
}
