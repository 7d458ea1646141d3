package tablerock.conformance.tables;

import com.azure.data.tables.models.TableEntity;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Entities, and what a case wants to know of them. */
final class Rows {
    private static final Set<String> SYSTEM = Set.of("PartitionKey", "RowKey", "Timestamp");

    private Rows() {
    }

    static TableEntity row(String partitionKey, String rowKey) {
        return new TableEntity(partitionKey, rowKey);
    }

    static TableEntity row(String partitionKey, String rowKey, Map<String, Object> values) {
        TableEntity entity = new TableEntity(partitionKey, rowKey);
        values.forEach(entity::addProperty);
        return entity;
    }

    /** The properties a user stored, without those of the service, in a form that can be compared. */
    static Map<String, Object> values(TableEntity entity) {
        Map<String, Object> values = new TreeMap<>();
        entity.getProperties().forEach((name, value) -> {
            if (!SYSTEM.contains(name) && !name.startsWith("odata.") && !name.endsWith("@odata.type")) {
                values.put(name, comparable(value));
            }
        });
        return values;
    }

    /** Arrays are equal to none but themselves; a buffer is equal to its like. */
    static Object comparable(Object value) {
        return value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value;
    }

    static List<String> keys(List<TableEntity> entities) {
        return entities.stream().map(TableEntity::getRowKey).toList();
    }
}
