package tablerock.conformance.tables;

import static com.azure.data.tables.models.TableEntityUpdateMode.MERGE;
import static com.azure.data.tables.models.TableEntityUpdateMode.REPLACE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;
import static tablerock.conformance.tables.Rows.values;

import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpHeaders;
import com.azure.core.http.policy.AddHeadersPolicy;
import com.azure.data.tables.models.TableEntity;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tablerock.conformance.Operation;

/** The single-entity operations, one property of each at a time. */
class EntitiesTest extends Case {
    @Test
    @Operation("InsertEntity")
    void insertStoresTheEntity() {
        var response = table.createEntityWithResponse(row("p", "r", Map.of("Name", "Ada")), null, null);
        assertEquals(204, response.getStatusCode());
        assertNotNull(response.getHeaders().getValue(HttpHeaderName.ETAG));
        TableEntity stored = table.getEntity("p", "r");
        assertEquals(List.of("p", "r"), List.of(stored.getPartitionKey(), stored.getRowKey()));
        assertEquals(Map.of("Name", "Ada"), values(stored));
    }

    @Test
    @Operation("InsertEntity")
    void insertTwiceIsRefused() {
        table.createEntity(row("p", "r", Map.of("Name", "Ada")));
        assertRefused(409, "EntityAlreadyExists", () -> table.createEntity(row("p", "r", Map.of("Name", "Grace"))));
        assertEquals(Map.of("Name", "Ada"), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("InsertEntity")
    void insertIntoMissingTableIsNotFound() {
        assertRefused(404, "TableNotFound", () -> missingTable().createEntity(row("p", "r")));
    }

    @Test
    @Operation("InsertEntity")
    void insertIgnoresTimestampOfTheClient() {
        OffsetDateTime longAgo = OffsetDateTime.parse("2001-02-03T04:05:06Z");
        table.createEntity(row("p", "r", Map.of("Timestamp", longAgo)));
        OffsetDateTime stored = table.getEntity("p", "r").getTimestamp();
        assertTrue(Duration.between(stored, OffsetDateTime.now()).abs().compareTo(Duration.ofMinutes(15)) < 0);
    }

    @Test
    @Operation("InsertEntity")
    void insertThroughTableNameInOtherCase() {
        SERVICE.getTableClient(table.getTableName().toUpperCase(Locale.ROOT)).createEntity(row("p", "r"));
        assertEquals("r", table.getEntity("p", "r").getRowKey());
    }

    @Test
    @Operation("QueryEntity")
    void getMissingEntityIsNotFound() {
        assertRefused(404, "ResourceNotFound", () -> table.getEntity("p", "r"));
    }

    @Test
    @Operation("QueryEntity")
    void getFromMissingTableIsNotFound() {
        assertRefused(404, "TableNotFound", () -> missingTable().getEntity("p", "r"));
    }

    /** The SDK always asks for full metadata. */
    @Test
    @Operation("QueryEntity")
    void getLinksTheEntity() {
        table.createEntity(row("p", "r", Map.of("Big", 1L)));
        Map<String, Object> found = table.getEntity("p", "r").getProperties();
        String link = table.getTableName() + "(PartitionKey='p',RowKey='r')";
        assertEquals(ACCOUNT.name() + "." + table.getTableName(), found.get("odata.type"));
        assertEquals(ACCOUNT.endpoint() + "/" + link, found.get("odata.id"));
        assertEquals(link, found.get("odata.editLink"));
        assertEquals("Edm.DateTime", found.get("Timestamp@odata.type"));
        assertEquals("Edm.Int64", found.get("Big@odata.type"));
    }

    @Test
    @Operation("QueryEntity")
    void getReturnsOnlyWhatIsSelected() {
        table.createEntity(row("p", "r", Map.of("Kept", 7L, "Left", "x")));
        TableEntity found = table.getEntityWithResponse("p", "r", List.of("RowKey", "Kept"), null, null).getValue();
        assertEquals(Map.of("Kept", 7L), values(found));
        assertEquals("r", found.getRowKey());
        assertFalse(found.getProperties().containsKey("PartitionKey"));
        assertNotNull(found.getETag());
    }

    @Test
    @Operation("QueryEntity")
    void getEchoesTheClientRequestId() {
        table.createEntity(row("p", "r"));
        HttpHeaderName id = HttpHeaderName.fromString("x-ms-client-request-id");
        var client = ACCOUNT.tableBuilder(table.getTableName()).credential(ACCOUNT.credential())
            .addPolicy(new AddHeadersPolicy(new HttpHeaders().set(id, "request-of-mine"))).buildClient();
        HttpHeaders answer = client.getEntityWithResponse("p", "r", null, null, null).getHeaders();
        assertEquals("request-of-mine", answer.getValue(id));
        assertNotNull(answer.getValue(HttpHeaderName.fromString("x-ms-request-id")));
        assertEquals("2020-12-06", answer.getValue(HttpHeaderName.fromString("x-ms-version")));
    }

    @Test
    @Operation("UpdateEntity")
    void updateReplacesAllProperties() {
        table.createEntity(row("p", "r", Map.of("Old", "1", "Both", "1")));
        table.updateEntity(row("p", "r", Map.of("Both", "2", "New", "2")), REPLACE);
        assertEquals(Map.of("Both", "2", "New", "2"), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("UpdateEntity")
    void updateMayChangeTheTypeOfAProperty() {
        table.createEntity(row("p", "r", Map.of("Value", "text")));
        table.updateEntity(row("p", "r", Map.of("Value", true)), REPLACE);
        assertEquals(Map.of("Value", true), values(table.getEntity("p", "r")));
    }

    /** What was read goes back with its metadata, annotations and timestamp, and they do no harm. */
    @Test
    @Operation("UpdateEntity")
    void updateTakesBackWhatWasRead() {
        table.createEntity(row("p", "r", Map.of("Big", 7L, "When", OffsetDateTime.parse("2020-01-02T03:04:05Z"))));
        TableEntity read = table.getEntity("p", "r").addProperty("New", "2");
        assertEquals(204, table.updateEntityWithResponse(read, REPLACE, true, null, null).getStatusCode());
        TableEntity stored = table.getEntity("p", "r");
        assertEquals(values(read), values(stored));
        assertTrue(stored.getTimestamp().isAfter(read.getTimestamp()));
    }

    @Test
    @Operation("UpdateEntity")
    void updateOfMissingEntityIsNotFound() {
        assertRefused(404, "ResourceNotFound", () -> table.updateEntity(row("p", "r"), REPLACE));
    }

    @Test
    @Operation("UpdateEntity")
    void updateInMissingTableIsNotFound() {
        assertRefused(404, "TableNotFound", () -> missingTable().updateEntity(row("p", "r"), REPLACE));
    }

    @Test
    @Operation("MergeEntity")
    void mergeKeepsWhatIsNotSent() {
        table.createEntity(row("p", "r", Map.of("Old", "1", "Both", "1")));
        table.updateEntity(row("p", "r", Map.of("Both", "2", "New", "2")), MERGE);
        assertEquals(Map.of("Old", "1", "Both", "2", "New", "2"), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("MergeEntity")
    void mergeOfMissingEntityIsNotFound() {
        assertRefused(404, "ResourceNotFound", () -> table.updateEntity(row("p", "r"), MERGE));
    }

    @Test
    @Operation("InsertOrReplaceEntity")
    void upsertReplaceInsertsThenReplaces() {
        table.upsertEntityWithResponse(row("p", "r", Map.of("Old", "1")), REPLACE, null, null);
        assertEquals(Map.of("Old", "1"), values(table.getEntity("p", "r")));
        var response = table.upsertEntityWithResponse(row("p", "r", Map.of("New", "2")), REPLACE, null, null);
        assertEquals(204, response.getStatusCode());
        assertEquals(Map.of("New", "2"), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("InsertOrMergeEntity")
    void upsertMergeInsertsThenMerges() {
        table.upsertEntityWithResponse(row("p", "r", Map.of("Old", "1")), MERGE, null, null);
        assertEquals(Map.of("Old", "1"), values(table.getEntity("p", "r")));
        table.upsertEntity(row("p", "r", Map.of("New", "2")));
        assertEquals(Map.of("Old", "1", "New", "2"), values(table.getEntity("p", "r")));
    }

    @Test
    @Operation("InsertOrMergeEntity")
    void upsertIntoMissingTableIsNotFound() {
        assertRefused(404, "TableNotFound", () -> missingTable().upsertEntity(row("p", "r")));
    }

    @Test
    @Operation("DeleteEntity")
    void deleteRemovesTheEntity() {
        table.createEntity(row("p", "r"));
        table.deleteEntity("p", "r");
        assertRefused(404, "ResourceNotFound", () -> table.getEntity("p", "r"));
    }

    /** The SDK takes a missing entity for a deleted one, but shows the status. */
    @Test
    @Operation("DeleteEntity")
    void deleteOfMissingEntityIsNotFound() {
        assertEquals(404, table.deleteEntityWithResponse(row("p", "r"), false, null, null).getStatusCode());
    }

    @Test
    @Operation("DeleteEntity")
    void deleteFromMissingTableIsNotFound() {
        assertEquals(404, missingTable().deleteEntityWithResponse(row("p", "r"), false, null, null).getStatusCode());
    }
}
