package tablerock.conformance.tables;

import com.azure.data.tables.models.TableServiceCorsRule;
import com.azure.data.tables.models.TableServiceProperties;
import java.util.List;

/** CORS rules and what cases compare of them. */
final class Cors {
    private Cors() {
    }

    static TableServiceCorsRule rule(String origin) {
        return new TableServiceCorsRule().setAllowedOrigins(origin).setAllowedMethods("GET,PUT")
            .setAllowedHeaders("x-ms-*,content-type").setExposedHeaders("x-ms-request-id").setMaxAgeInSeconds(60);
    }

    static List<String> origins(List<TableServiceCorsRule> rules) {
        return rules == null ? List.of() : rules.stream().map(TableServiceCorsRule::getAllowedOrigins).toList();
    }

    static List<String> origins(TableServiceProperties properties) {
        return origins(properties.getCorsRules());
    }
}
