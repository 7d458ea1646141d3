package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;

import com.azure.core.http.rest.PagedIterable;
import com.azure.core.http.rest.PagedResponse;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tablerock.conformance.Operation;

class PagesTest extends Case {
    private PagedIterable<TableEntity> pages(int size, String filter) {
        return table.listEntities(new ListEntitiesOptions().setTop(size).setFilter(filter), null, null);
    }

    private static List<String> numbers(IntStream numbers) {
        return numbers.mapToObj("%05d"::formatted).toList();
    }

    @Test
    @Operation("QueryEntities")
    void queryOrdersByPartitionThenRow() {
        List<String> unordered = List.of("p10/b", "p2/a", "P2/z", "p10/B", "p1/x", "p10/a10", "p10/a2");
        unordered.forEach(key -> table.createEntity(row(key.split("/")[0], key.split("/")[1])));
        assertEquals(List.of("P2/z", "p1/x", "p10/B", "p10/a10", "p10/a2", "p10/b", "p2/a"),
            list(null).stream().map(entity -> entity.getPartitionKey() + "/" + entity.getRowKey()).toList());
    }

    @Test
    @Operation("QueryEntities")
    void queryOfEmptyTableIsEmpty() {
        PagedResponse<TableEntity> page = table.listEntities().iterableByPage().iterator().next();
        assertEquals(List.of(), page.getValue());
        assertNull(page.getContinuationToken());
    }

    @Test
    @Operation("QueryEntities")
    void pageSizeBoundsEachPage() {
        addMany("p", 10);
        assertEquals(List.of(4, 4, 2), pages(4, null).streamByPage().map(page -> page.getValue().size()).toList());
    }

    @Test
    @Operation("QueryEntities")
    void filteredPagesSkipAndRepeatNothing() {
        addMany("p", 50);
        assertEquals(numbers(IntStream.range(0, 25).map(i -> 2 * i)),
            Rows.keys(pages(3, "Even eq true").stream().toList()));
    }

    @Test
    @Operation("QueryEntities")
    void continuationResumesInANewClient() {
        // Keys that are awkward in a header and in an address.
        List<String> odd = List.of("a b+c;d", "dé'e", "f&g=%h");
        odd.forEach(key -> table.createEntity(row(key, key)));
        List<String> found = new ArrayList<>();
        String token = null;
        do {
            var client = ACCOUNT.tableBuilder(table.getTableName()).credential(ACCOUNT.credential()).buildClient();
            var pages = client.listEntities(new ListEntitiesOptions().setTop(1), null, null);
            var page = (token == null ? pages.iterableByPage() : pages.iterableByPage(token)).iterator().next();
            page.getValue().forEach(entity -> found.add(entity.getPartitionKey()));
            token = page.getContinuationToken();
        } while (token != null);
        assertEquals(odd, found);
    }

    @Test
    @Operation("QueryEntities")
    void continuationSurvivesDeletionOfItsEntity() {
        addMany("p", 5);
        PagedIterable<TableEntity> pages = pages(2, null);
        String token = pages.iterableByPage().iterator().next().getContinuationToken();
        table.deleteEntity("p", "00002");
        List<String> rest = pages.streamByPage(token).flatMap(page -> Rows.keys(page.getValue()).stream()).toList();
        assertEquals(List.of("00003", "00004"), rest);
    }

    @Test
    @Operation("QueryEntities")
    void queryReturnsMoreThanAThousandEntitiesInPages() {
        addMany("p", 1100);
        PagedResponse<TableEntity> page = table.listEntities().iterableByPage().iterator().next();
        assertEquals(1000, page.getValue().size());
        assertNotNull(page.getContinuationToken());
        assertEquals(numbers(IntStream.range(0, 1100)), rowKeys(null));
    }

    @Test
    @Operation("QueryEntities")
    void filterReachesEntitiesBeyondTheFirstThousand() {
        addMany("p", 1100);
        assertEquals(List.of("01099"), rowKeys("Index eq 1099"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("QueryEntities")
    @CsvSource({"above a thousand, 1001", "below zero, -1"})
    void pageSizeIsRefused(String description, int size) {
        assertRefused(400, "InvalidInput", () -> pages(size, null).stream().toList());
    }
}
