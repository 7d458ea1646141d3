package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;

import com.azure.core.http.rest.PagedIterable;
import com.azure.core.http.rest.PagedResponse;
import com.azure.data.tables.models.ListTablesOptions;
import com.azure.data.tables.models.TableItem;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tablerock.conformance.Operation;

class TablesTest extends Case {
    @Test
    @Operation("CreateTable")
    void createTableWithoutContent() {
        String name = deleteAfterwards(newTableName());
        var response = SERVICE.createTableWithResponse(name, null, null);
        assertEquals(204, response.getStatusCode());
        assertEquals(name, response.getValue().getTableName());
    }

    @Test
    @Operation("CreateTable")
    void createTableThroughTheTableClient() {
        String name = deleteAfterwards(newTableName());
        assertEquals(name, SERVICE.getTableClient(name).createTable().getName());
        assertEquals(List.of(name), tables("TableName eq '" + name + "'"));
    }

    @Test
    @Operation("CreateTable")
    void createTableTwiceIsRefused() {
        assertRefused(409, "TableAlreadyExists", () -> SERVICE.createTable(table.getTableName()));
    }

    @Test
    @Operation("CreateTable")
    void createTableInOtherCaseIsRefused() {
        String upper = table.getTableName().toUpperCase(Locale.ROOT);
        assertRefused(409, "TableAlreadyExists", () -> SERVICE.createTable(upper));
    }

    @Test
    @Operation("CreateTable")
    void createTableIfNotExistsIsContentWithAnOldOne() {
        assertEquals(409, SERVICE.createTableIfNotExistsWithResponse(table.getTableName(), null, null).getStatusCode());
        String fresh = deleteAfterwards(newTableName());
        assertEquals(204, SERVICE.createTableIfNotExistsWithResponse(fresh, null, null).getStatusCode());
    }

    @ParameterizedTest(name = "{0}")
    @Operation("CreateTable")
    @CsvSource({
        "with a dash, has-dash, InvalidResourceName",
        "with an underscore, has_underscore, InvalidResourceName",
        "with a leading digit, 1table, InvalidResourceName",
        "beyond ascii, tåble, InvalidResourceName",
        "of two characters, ab, OutOfRangeInput",
        "of 64 characters, a123456789a123456789a123456789a123456789a123456789a123456789a123, OutOfRangeInput",
        "that is reserved, tables, InvalidInput",
    })
    void createTableRefusesName(String description, String name, String code) {
        assertRefused(400, code, () -> SERVICE.createTable(name));
    }

    @Test
    @Operation("CreateTable")
    void createTableAcceptsNameOf63Characters() {
        String name = newTableName();
        name += "x".repeat(63 - name.length());
        createAndDeleteAfterwards(name);
        assertEquals(List.of(name), tables("TableName eq '" + name + "'"));
    }

    @Test
    @Operation("DeleteTable")
    void deleteTableRemovesIt() {
        table.createEntity(row("p", "r"));
        assertEquals(204, table.deleteTableWithResponse(null, null).getStatusCode());
        assertRefused(404, "TableNotFound", () -> table.getEntity("p", "r"));
        assertEquals(List.of(), tables("TableName eq '" + table.getTableName() + "'"));
    }

    @Test
    @Operation("DeleteTable")
    void deleteTableIgnoresCase() {
        String lower = table.getTableName().toLowerCase(Locale.ROOT);
        assertEquals(204, SERVICE.deleteTableWithResponse(lower, null, null).getStatusCode());
        assertEquals(List.of(), tables("TableName eq '" + table.getTableName() + "'"));
    }

    /** The SDK takes a missing table for a deleted one, but shows the status. */
    @Test
    @Operation("DeleteTable")
    void deleteMissingTableIsNotFound() {
        assertEquals(404, SERVICE.deleteTableWithResponse(newTableName(), null, null).getStatusCode());
    }

    @Test
    @Operation("QueryTables")
    void listTablesKeepsTheSpellingOfCreation() {
        assertTrue(SERVICE.listTables().stream().anyMatch(item -> item.getName().equals(table.getTableName())));
    }

    @Test
    @Operation("QueryTables")
    void listTablesByPrefix() {
        List<String> names = family(3);
        String prefix = names.get(0).substring(0, names.get(0).length() - 1);
        assertEquals(names, tables("TableName ge '%s' and TableName lt '%s{'".formatted(prefix, prefix)));
    }

    @Test
    @Operation("QueryTables")
    void listTablesByComparison() {
        List<String> names = family(3);
        String within = "TableName gt '%s' and TableName le '%s' and TableName ne '%s'";
        assertEquals(names.subList(2, 3), tables(within.formatted(names.get(0), names.get(2), names.get(1))));
        assertEquals(names.subList(1, 2), tables("not (TableName ne '%s')".formatted(names.get(1))));
    }

    @Test
    @Operation("QueryTables")
    void listTablesInPagesAndResumes() {
        List<String> names = family(3);
        PagedIterable<TableItem> pages = SERVICE.listTables(new ListTablesOptions().setTop(2)
            .setFilter("TableName ge '%s' and TableName le '%s'".formatted(names.get(0), names.get(2))), null, null);
        PagedResponse<TableItem> first = pages.iterableByPage().iterator().next();
        assertEquals(2, first.getValue().size());
        assertNotNull(first.getContinuationToken());

        PagedResponse<TableItem> rest = pages.iterableByPage(first.getContinuationToken()).iterator().next();
        assertEquals(names.subList(2, 3), rest.getValue().stream().map(TableItem::getName).toList());
        assertNull(rest.getContinuationToken());
    }

    @Test
    @Operation("QueryTables")
    void listTablesRefusesMoreThanAThousandPerPage() {
        var options = new ListTablesOptions().setTop(1001);
        assertRefused(400, "InvalidInput", () -> SERVICE.listTables(options, null, null).stream().toList());
    }

    private static List<String> tables(String filter) {
        var options = new ListTablesOptions().setFilter(filter);
        return SERVICE.listTables(options, null, null).stream().map(TableItem::getName).toList();
    }

    /** Tables that share a prefix and end in a digit. */
    private List<String> family(int size) {
        String prefix = newTableName();
        return IntStream.range(0, size).mapToObj(i -> createAndDeleteAfterwards(prefix + i)).toList();
    }
}
