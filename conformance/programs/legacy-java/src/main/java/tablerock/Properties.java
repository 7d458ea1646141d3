package tablerock;

import com.microsoft.azure.storage.table.EntityProperty;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Properties of a task: each is a pair of the name of its type and its text. */
final class Properties {
    private Properties() {}

    static HashMap<String, EntityProperty> parse(Map<String, Object> told) {
        HashMap<String, EntityProperty> properties = new HashMap<>();
        told.forEach((name, pair) -> {
            List<?> typed = (List<?>) pair;
            properties.put(name, parse((String) typed.get(0), (String) typed.get(1)));
        });
        return properties;
    }

    private static EntityProperty parse(String type, String text) {
        return switch (type) {
            case "Edm.String" -> new EntityProperty(text);
            case "Edm.Int32" -> new EntityProperty(Integer.parseInt(text));
            case "Edm.Int64" -> new EntityProperty(Long.parseLong(text));
            case "Edm.Double" -> new EntityProperty(Double.parseDouble(text));
            case "Edm.Boolean" -> new EntityProperty(Boolean.parseBoolean(text));
            case "Edm.DateTime" -> new EntityProperty(Date.from(Instant.parse(text)));
            case "Edm.Guid" -> new EntityProperty(UUID.fromString(text));
            case "Edm.Binary" -> new EntityProperty(Base64.getDecoder().decode(text));
            default -> throw new IllegalArgumentException("no type is called " + type);
        };
    }

    static Map<String, Object> tell(Map<String, EntityProperty> properties) {
        Map<String, Object> told = new LinkedHashMap<>();
        properties.forEach((name, property) -> told.put(name, List.of(property.getEdmType().toString(), text(property))));
        return told;
    }

    private static String text(EntityProperty property) {
        return switch (property.getEdmType()) {
            case DATE_TIME -> property.getValueAsDate().toInstant().toString();
            case BINARY -> Base64.getEncoder().encodeToString(property.getValueAsByteArray());
            default -> property.getValueAsString();
        };
    }
}
