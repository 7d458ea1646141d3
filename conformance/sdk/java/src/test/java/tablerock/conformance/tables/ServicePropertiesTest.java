package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Refusals.assertRefusedWith;

import com.azure.data.tables.models.TableServiceCorsRule;
import com.azure.data.tables.models.TableServiceLogging;
import com.azure.data.tables.models.TableServiceMetrics;
import com.azure.data.tables.models.TableServiceProperties;
import com.azure.data.tables.models.TableServiceRetentionPolicy;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tablerock.conformance.Operation;

/** Properties belong to the account, so each case puts back what it found. */
class ServicePropertiesTest extends Case {
    private TableServiceProperties before;

    @BeforeEach
    void remember() {
        before = SERVICE.getProperties();
        // An empty list clears the rules; none at all would keep those of the case.
        before.setCorsRules(Objects.requireNonNullElse(before.getCorsRules(), List.of()));
    }

    @AfterEach
    void restore() {
        SERVICE.setProperties(before);
    }

    private static TableServiceRetentionPolicy retention(int days) {
        return new TableServiceRetentionPolicy().setEnabled(true).setDaysToRetain(days);
    }

    private static TableServiceLogging logging(int days) {
        return new TableServiceLogging().setAnalyticsVersion("1.0").setReadLogged(true).setWriteLogged(true)
            .setDeleteLogged(false).setRetentionPolicy(retention(days));
    }

    private static TableServiceMetrics metrics(int days) {
        return new TableServiceMetrics().setVersion("1.0").setEnabled(true).setIncludeApis(true)
            .setRetentionPolicy(retention(days));
    }

    private static void set(TableServiceProperties properties, Predicate<TableServiceProperties> inForce)
        throws Exception {
        SERVICE.setProperties(properties);
        eventually(() -> inForce.test(SERVICE.getProperties()));
    }

    private static int days(TableServiceRetentionPolicy policy) {
        return policy.isEnabled() ? policy.getDaysToRetain() : 0;
    }

    @Test
    @Operation("GetTableServiceProperties")
    void servicePropertiesHaveEverySection() {
        TableServiceProperties found = SERVICE.getProperties();
        assertEquals("1.0", found.getLogging().getAnalyticsVersion());
        assertNotNull(found.getLogging().getRetentionPolicy());
        assertNotNull(found.getHourMetrics().getTableServiceRetentionPolicy());
        assertNotNull(found.getMinuteMetrics().getTableServiceRetentionPolicy());
    }

    @Test
    @Operation("SetTableServiceProperties")
    void loggingComesBackAsSet() throws Exception {
        set(new TableServiceProperties().setLogging(logging(5)),
            found -> days(found.getLogging().getRetentionPolicy()) == 5);
        TableServiceLogging found = SERVICE.getProperties().getLogging();
        assertEquals(List.of(true, true, false),
            List.of(found.isReadLogged(), found.isWriteLogged(), found.isDeleteLogged()));
    }

    @Test
    @Operation("SetTableServiceProperties")
    void metricsComeBackAsSet() throws Exception {
        set(new TableServiceProperties().setHourMetrics(metrics(6)).setMinuteMetrics(metrics(7)),
            found -> days(found.getHourMetrics().getTableServiceRetentionPolicy()) == 6
                && days(found.getMinuteMetrics().getTableServiceRetentionPolicy()) == 7);
        TableServiceMetrics found = SERVICE.getProperties().getHourMetrics();
        assertEquals(List.of(true, true), List.of(found.isEnabled(), found.isIncludeApis()));
    }

    @Test
    @Operation("SetTableServiceProperties")
    void corsRulesComeBackAsSet() throws Exception {
        List<TableServiceCorsRule> rules = List.of(Cors.rule("http://one.example"), Cors.rule("*"));
        set(new TableServiceProperties().setCorsRules(rules), found -> Cors.origins(found).equals(Cors.origins(rules)));
        TableServiceCorsRule found = SERVICE.getProperties().getCorsRules().get(0);
        assertEquals("GET,PUT", found.getAllowedMethods());
        assertEquals("x-ms-*,content-type", found.getAllowedHeaders());
        assertEquals("x-ms-request-id", found.getExposedHeaders());
        assertEquals(60, found.getMaxAgeInSeconds());
    }

    @Test
    @Operation("SetTableServiceProperties")
    void emptyCorsRemovesTheRules() throws Exception {
        set(new TableServiceProperties().setCorsRules(List.of(Cors.rule("*"))),
            found -> Cors.origins(found).size() == 1);
        set(new TableServiceProperties().setCorsRules(List.of()), found -> Cors.origins(found).isEmpty());
    }

    @Test
    @Operation("SetTableServiceProperties")
    void sectionsLeftOutKeepTheirValue() throws Exception {
        List<TableServiceCorsRule> rules = List.of(Cors.rule("http://kept.example"));
        set(new TableServiceProperties().setLogging(logging(11)).setCorsRules(rules),
            found -> days(found.getLogging().getRetentionPolicy()) == 11);
        set(new TableServiceProperties().setHourMetrics(metrics(12)),
            found -> days(found.getHourMetrics().getTableServiceRetentionPolicy()) == 12);
        TableServiceProperties found = SERVICE.getProperties();
        assertEquals(11, days(found.getLogging().getRetentionPolicy()));
        assertEquals(Cors.origins(rules), Cors.origins(found));
    }

    @Test
    @Operation("SetTableServiceProperties")
    void retentionOf366DaysIsRefused() {
        assertRefused(400, "InvalidXmlDocument",
            () -> SERVICE.setProperties(new TableServiceProperties().setHourMetrics(metrics(366))));
    }

    @Test
    @Operation("SetTableServiceProperties")
    void sixCorsRulesAreRefused() {
        var six = new TableServiceProperties().setCorsRules(Collections.nCopies(6, Cors.rule("http://many.example")));
        assertRefusedWith(() -> SERVICE.setProperties(six), 400);
    }
}
