package tablerock.conformance.tables;

import static com.azure.data.tables.models.TableEntityUpdateMode.MERGE;
import static com.azure.data.tables.models.TableEntityUpdateMode.REPLACE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;
import static tablerock.conformance.tables.Rows.values;

import com.azure.core.http.rest.Response;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.TableEntity;
import java.time.OffsetDateTime;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tablerock.conformance.Operation;

class EtagsTest extends Case {
    /** The writes that take an etag; the entity carries it. */
    enum Write {
        REPLACING {
            Response<Void> to(TableClient table, TableEntity entity) {
                return table.updateEntityWithResponse(entity, REPLACE, true, null, null);
            }
        },
        MERGING {
            Response<Void> to(TableClient table, TableEntity entity) {
                return table.updateEntityWithResponse(entity, MERGE, true, null, null);
            }
        },
        DELETING {
            Response<Void> to(TableClient table, TableEntity entity) {
                return table.deleteEntityWithResponse(entity, true, null, null);
            }
        };

        abstract Response<Void> to(TableClient table, TableEntity entity);
    }

    private static TableEntity tagged(String etag) {
        return row("p", "r", Map.of("odata.etag", etag));
    }

    @Test
    @Operation("QueryEntity")
    void etagIsTheTimestamp() {
        table.createEntity(row("p", "r"));
        TableEntity stored = table.getEntity("p", "r");
        String text = stored.getETag().replace("W/\"datetime'", "").replace("'\"", "").replace("%3A", ":");
        assertEquals(stored.getTimestamp(), OffsetDateTime.parse(text));
    }

    /** One write in ten would end in a zero, so this many show any that is left standing. */
    @Test
    @Operation("InsertOrReplaceEntity")
    void timestampHasNoTrailingZeros() {
        for (int i = 0; i < 120; i++) {
            table.upsertEntity(row("p", "r"));
            String etag = table.getEntity("p", "r").getETag();
            assertFalse(etag.matches(".*\\.\\d*0Z.*"), etag);
        }
    }

    @Test
    @Operation("UpdateEntity")
    void everyWriteRaisesTheTimestamp() {
        table.createEntity(row("p", "r"));
        TableEntity before = table.getEntity("p", "r");
        for (int i = 0; i < 20; i++) {
            table.updateEntity(row("p", "r"), REPLACE);
            TableEntity after = table.getEntity("p", "r");
            assertTrue(after.getTimestamp().isAfter(before.getTimestamp()));
            assertNotEquals(before.getETag(), after.getETag());
            before = after;
        }
    }

    @Test
    @Operation("UpdateEntity")
    void currentEtagIsAcceptedByReplace() {
        acceptsCurrentEtag(Write.REPLACING);
    }

    @Test
    @Operation("MergeEntity")
    void currentEtagIsAcceptedByMerge() {
        acceptsCurrentEtag(Write.MERGING);
    }

    @Test
    @Operation("DeleteEntity")
    void currentEtagIsAcceptedByDelete() {
        acceptsCurrentEtag(Write.DELETING);
    }

    @Test
    @Operation("UpdateEntity")
    void staleEtagIsRefusedByReplace() {
        refusesStaleEtag(Write.REPLACING);
    }

    @Test
    @Operation("MergeEntity")
    void staleEtagIsRefusedByMerge() {
        refusesStaleEtag(Write.MERGING);
    }

    @Test
    @Operation("DeleteEntity")
    void staleEtagIsRefusedByDelete() {
        refusesStaleEtag(Write.DELETING);
    }

    @Test
    @Operation("UpdateEntity")
    void foreignWeakEtagIsRefusedByReplace() {
        refusesForeignEtag(Write.REPLACING);
    }

    @Test
    @Operation("MergeEntity")
    void foreignWeakEtagIsRefusedByMerge() {
        refusesForeignEtag(Write.MERGING);
    }

    @Test
    @Operation("DeleteEntity")
    void foreignWeakEtagIsRefusedByDelete() {
        refusesForeignEtag(Write.DELETING);
    }

    @Test
    @Operation("UpdateEntity")
    void malformedEtagIsRefusedByReplace() {
        refusesMalformedEtag(Write.REPLACING);
    }

    @Test
    @Operation("MergeEntity")
    void malformedEtagIsRefusedByMerge() {
        refusesMalformedEtag(Write.MERGING);
    }

    @Test
    @Operation("DeleteEntity")
    void malformedEtagIsRefusedByDelete() {
        refusesMalformedEtag(Write.DELETING);
    }

    @Test
    @Operation("UpdateEntity")
    void missingEntityWinsOverTheEtagByReplace() {
        prefersNotFound(Write.REPLACING);
    }

    @Test
    @Operation("MergeEntity")
    void missingEntityWinsOverTheEtagByMerge() {
        prefersNotFound(Write.MERGING);
    }

    @Test
    @Operation("UpdateEntity")
    void etagWithPlainColonsIsAccepted() {
        table.createEntity(row("p", "r"));
        String plain = table.getEntity("p", "r").getETag().replace("%3A", ":");
        assertEquals(204, Write.REPLACING.to(table, tagged(plain)).getStatusCode());
    }

    private void acceptsCurrentEtag(Write write) {
        table.createEntity(row("p", "r"));
        assertEquals(204, write.to(table, table.getEntity("p", "r")).getStatusCode());
    }

    private void refusesStaleEtag(Write write) {
        table.createEntity(row("p", "r"));
        TableEntity stale = table.getEntity("p", "r");
        table.updateEntity(row("p", "r", Map.of("Newer", true)), REPLACE);
        assertRefused(412, "UpdateConditionNotSatisfied", () -> write.to(table, stale));
        assertEquals(Map.of("Newer", true), values(table.getEntity("p", "r")));
    }

    private void refusesForeignEtag(Write write) {
        table.createEntity(row("p", "r"));
        assertRefused(412, "UpdateConditionNotSatisfied", () -> write.to(table, tagged("W/\"wrong\"")));
    }

    private void refusesMalformedEtag(Write write) {
        table.createEntity(row("p", "r"));
        assertRefused(400, "InvalidInput", () -> write.to(table, tagged("no-quotes")));
    }

    private void prefersNotFound(Write write) {
        assertRefused(404, "ResourceNotFound", () -> write.to(table, tagged("W/\"wrong\"")));
    }
}
