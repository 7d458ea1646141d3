package tablerock;

import com.google.common.util.concurrent.Futures;
import com.microsoft.azure.storage.table.CloudTable;
import com.microsoft.azure.storage.table.CloudTableClient;
import com.microsoft.azure.storage.table.DynamicTableEntity;
import com.microsoft.azure.storage.table.TableBatchOperation;
import com.microsoft.azure.storage.table.TableEncryptionPolicy;
import com.microsoft.azure.storage.table.TableOperation;
import com.microsoft.azure.storage.table.TableQuery;
import com.microsoft.azure.storage.table.TableRequestOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes and reads encrypted entities: a task of JSON comes on standard input, the entities read go to standard output.
 * The tests of our client give the tasks.
 */
final class Encryption {
    private final CloudTable table;
    private final TableRequestOptions options = new TableRequestOptions();

    private Encryption(CloudTable table) {
        this.table = table;
    }

    static void run(CloudTableClient client) throws Exception {
        Map<String, Object> task = object(Json.read(System.in));
        Encryption encryption = new Encryption(client.getTableReference((String) task.get("table")));
        Map<String, Object> key = object(task.get("key"));
        encryption.useKey(WrappingKey.of((String) key.get("kind"), (String) key.get("id"), (String) key.get("secret")));
        Map<String, Object> encrypted = object(task.get("encrypted"));
        encryption.options.setEncryptionResolver(
                (partition, row, name) -> ((List<?>) encrypted.getOrDefault(row, List.of())).contains(name));
        List<Object> read = new ArrayList<>();
        for (Object step : (List<?>) task.get("steps")) {
            encryption.run(object(step), read);
        }
        Json.write(System.out, read);
    }

    /** Wraps with the key, and finds it by its id to unwrap. */
    private void useKey(WrappingKey key) {
        options.setEncryptionPolicy(new TableEncryptionPolicy(
                key, id -> Futures.immediateFuture(id.equals(key.getKid()) ? key : null)));
        options.setRequireEncryption(true);
    }

    private void run(Map<String, Object> step, List<Object> read) throws Exception {
        switch ((String) step.get("action")) {
            case "insert" -> {
                for (DynamicTableEntity entity : entities(step)) {
                    table.execute(TableOperation.insert(entity), options, null);
                }
            }
            case "transaction" -> {
                TableBatchOperation batch = new TableBatchOperation();
                entities(step).forEach(batch::insertOrReplace);
                table.execute(batch, options, null);
            }
            case "get" -> {
                TableOperation get = TableOperation.retrieve(
                        (String) step.get("PartitionKey"), (String) step.get("RowKey"), DynamicTableEntity.class);
                read.add(tell(table.execute(get, options, null).getResultAsType()));
            }
            case "query" -> {
                String[] columns = ((List<?>) step.get("select")).toArray(String[]::new);
                TableQuery<DynamicTableEntity> query = TableQuery.from(DynamicTableEntity.class)
                        .where((String) step.get("filter"))
                        .select(columns);
                table.execute(query, options, null).forEach(entity -> read.add(tell(entity)));
            }
            default -> throw new IllegalArgumentException("no action is called " + step.get("action"));
        }
    }

    private static List<DynamicTableEntity> entities(Map<String, Object> step) {
        List<DynamicTableEntity> entities = new ArrayList<>();
        for (Object told : (List<?>) step.get("entities")) {
            Map<String, Object> entity = object(told);
            entities.add(new DynamicTableEntity((String) entity.get("PartitionKey"), (String) entity.get("RowKey"),
                    Properties.parse(object(entity.get("properties")))));
        }
        return entities;
    }

    private static Map<String, Object> tell(DynamicTableEntity entity) {
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("PartitionKey", entity.getPartitionKey());
        told.put("RowKey", entity.getRowKey());
        told.put("properties", Properties.tell(new HashMap<>(entity.getProperties())));
        return told;
    }

    @SuppressWarnings("unchecked") // Objects of JSON have names for keys.
    private static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }
}
