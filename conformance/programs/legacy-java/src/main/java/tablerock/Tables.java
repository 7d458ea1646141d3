package tablerock;

import com.microsoft.azure.storage.table.CloudTable;
import com.microsoft.azure.storage.table.CloudTableClient;
import com.microsoft.azure.storage.table.DynamicTableEntity;
import com.microsoft.azure.storage.table.EntityProperty;
import com.microsoft.azure.storage.table.TableBatchOperation;
import com.microsoft.azure.storage.table.TableOperation;
import com.microsoft.azure.storage.table.TableQuery;
import java.util.HashMap;

/** Entities: alone and in batches. */
final class Tables {
    private static final int ROWS = 5;

    private Tables() {}

    static void run(CloudTableClient client) throws Exception {
        CloudTable table = client.getTableReference(Job.newName());
        Job.check(table.createIfNotExists(), "the table is new");
        try {
            insertAndMerge(table);
            query(table);
        } finally {
            table.delete();
        }
    }

    private static void insertAndMerge(CloudTable table) throws Exception {
        TableBatchOperation inserts = new TableBatchOperation();
        TableBatchOperation merges = new TableBatchOperation();
        for (int row = 0; row < ROWS; row++) {
            inserts.insert(entity(row, "first", row), true);
            DynamicTableEntity change = entity(row, "second", row * row);
            change.setEtag("*");
            merges.merge(change);
        }
        Job.check(table.execute(inserts).size() == ROWS, "every insert has a result");
        Job.check(table.execute(merges).size() == ROWS, "every merge has a result");
        DynamicTableEntity change = entity(0, "second", -1);
        change.setEtag("*");
        table.execute(TableOperation.merge(change));
        table.execute(TableOperation.insertOrMerge(entity(ROWS, "second", 0)));
    }

    private static void query(CloudTable table) throws Exception {
        TableQuery<DynamicTableEntity> query =
                TableQuery.from(DynamicTableEntity.class).where("PartitionKey eq 'p' and second ge 0");
        int found = 0;
        for (DynamicTableEntity entity : table.execute(query)) {
            Job.check(entity.getProperties().containsKey("first") == (found < ROWS - 1), entity.getRowKey());
            found++;
        }
        Job.check(found == ROWS, "five entities match, not " + found);
    }

    private static DynamicTableEntity entity(int row, String property, int value) {
        HashMap<String, EntityProperty> properties = new HashMap<>();
        properties.put(property, new EntityProperty(value));
        return new DynamicTableEntity("p", String.valueOf(row), properties);
    }
}
