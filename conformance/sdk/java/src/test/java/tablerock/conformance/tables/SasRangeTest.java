package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.sas.TableSasSignatureValues;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tablerock.conformance.Operation;

/** A table SAS may cover one contiguous range of keys. The SDK wants a RowKey with every PartitionKey. */
class SasRangeTest extends Case {
    /** Two rows in each of three partitions; rows are named after their partition. */
    @BeforeEach
    void addGrid() {
        for (String partition : List.of("a", "b", "c")) {
            table.createEntity(row(partition, partition + "1"));
            table.createEntity(row(partition, partition + "2"));
        }
    }

    private static TableSasSignatureValues insideB() {
        return Sas.token("raud").setStartPartitionKey("b").setStartRowKey("b1")
            .setEndPartitionKey("b").setEndRowKey("b9");
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @CsvSource({
        "before a partition, b, '', , , b1 b2 c1 c2",
        "before a row, b, b2, , , b2 c1 c2",
        "after a row, , , b, b1, a1 a2 b1",
        "outside a range of rows, a, a2, c, c1, a2 b1 b2 c1",
        "outside one row, b, b1, b, b1, b1",
    })
    void sasRangeHidesRowsFromAQuery(String description, String startPartition, String startRow, String endPartition,
        String endRow, String expected) {
        TableClient limited = Sas.open(table, Sas.token("r")
            .setStartPartitionKey(startPartition).setStartRowKey(startRow)
            .setEndPartitionKey(endPartition).setEndRowKey(endRow));
        assertEquals(expected, String.join(" ", Rows.keys(limited.listEntities().stream().toList())));
    }

    @Test
    @Operation("Authentication")
    void sasRangeHidesRowsFromAGet() {
        TableClient limited = Sas.open(table, insideB());
        assertEquals("b1", limited.getEntity("b", "b1").getRowKey());
        assertRefused(404, "ResourceNotFound", () -> limited.getEntity("a", "a1"));
    }

    @Test
    @Operation("Authentication")
    void sasRangeRefusesInsertOutside() {
        assertRefused(403, "AuthorizationFailure", () -> Sas.open(table, insideB()).createEntity(row("a", "new")));
    }

    @Test
    @Operation("Authentication")
    void sasRangeRefusesUpsertOutside() {
        assertRefused(403, "AuthorizationFailure", () -> Sas.open(table, insideB()).upsertEntity(row("a", "a1")));
    }

    @Test
    @Operation("Authentication")
    void sasRangeRefusesUpdateOutside() {
        assertRefused(403, "AuthorizationFailure", () -> Sas.open(table, insideB()).updateEntity(row("a", "a1")));
    }

    @Test
    @Operation("Authentication")
    void sasRangeRefusesDeleteOutside() {
        assertRefused(403, "AuthorizationFailure", () -> Sas.open(table, insideB()).deleteEntity("a", "a1"));
    }

    @Test
    @Operation("Authentication")
    void sasRangeAllowsWritesInside() {
        TableClient limited = Sas.open(table, insideB());
        limited.createEntity(row("b", "b5"));
        limited.upsertEntity(row("b", "b9"));
        limited.deleteEntity("b", "b5");
        assertEquals(List.of("b1", "b2", "b9"), rowKeys("PartitionKey eq 'b'"));
    }
}
