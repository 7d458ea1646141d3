package tablerock.conformance.tables;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import tablerock.conformance.ResultWriter;

/** What every case works with: the account, a service client with its key, and a table created for the case. */
@ExtendWith(ResultWriter.class)
abstract class Case {
    static final TableAccount ACCOUNT = TableAccount.fromEnvironment();
    static final TableServiceClient SERVICE = ACCOUNT.service();

    private final List<String> tables = new ArrayList<>();
    TableClient table;

    @BeforeEach
    void createTable() {
        table = SERVICE.getTableClient(newTable());
    }

    @AfterEach
    void deleteTables() {
        tables.forEach(SERVICE::deleteTable);
    }

    static String newTableName() {
        return "Java" + UUID.randomUUID().toString().replace("-", "");
    }

    /** A table that goes away with the case; the case may delete it itself. */
    String newTable() {
        return createAndDeleteAfterwards(newTableName());
    }

    String createAndDeleteAfterwards(String name) {
        SERVICE.createTable(name);
        return deleteAfterwards(name);
    }

    String deleteAfterwards(String name) {
        tables.add(name);
        return name;
    }

    /** A client for a table that is not there. */
    static TableClient missingTable() {
        return SERVICE.getTableClient(newTableName());
    }

    List<TableEntity> list(String filter) {
        return table.listEntities(new ListEntitiesOptions().setFilter(filter), null, null).stream().toList();
    }

    List<String> rowKeys(String filter) {
        return Rows.keys(list(filter));
    }

    /** Fills a partition with numbered rows, a hundred to a transaction. */
    void addMany(String partitionKey, int count) {
        for (int start = 0; start < count; start += 100) {
            List<TableTransactionAction> actions = new ArrayList<>();
            for (int i = start; i < Math.min(start + 100, count); i++) {
                Map<String, Object> values = Map.of("Index", i, "Even", i % 2 == 0);
                actions.add(new TableTransactionAction(TableTransactionActionType.CREATE,
                    Rows.row(partitionKey, "%05d".formatted(i), values)));
            }
            table.submitTransaction(actions);
        }
    }

    /** Repeats an attempt for as long as the service may need to apply a setting. */
    static void eventually(Callable<Boolean> attempt) throws Exception {
        ACCOUNT.account().eventually(attempt);
    }
}
