package tablerock.conformance.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static tablerock.conformance.Refusals.assertRefused;

import com.azure.core.util.Context;
import com.azure.storage.queue.models.QueueAnalyticsLogging;
import com.azure.storage.queue.models.QueueCorsRule;
import com.azure.storage.queue.models.QueueMetrics;
import com.azure.storage.queue.models.QueueRetentionPolicy;
import com.azure.storage.queue.models.QueueServiceProperties;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tablerock.conformance.Operation;

/** Service properties and statistics. Properties belong to the account, so each case puts back what it found. */
class QueueServiceTest extends QueueCase {
    private QueueServiceProperties before;

    @BeforeEach
    void remember() {
        before = SERVICE.getProperties();
    }

    @AfterEach
    void restore() {
        SERVICE.setProperties(before);
    }

    private static QueueRetentionPolicy retention(int days) {
        return new QueueRetentionPolicy().setEnabled(true).setDays(days);
    }

    private static QueueMetrics metrics(int days) {
        return new QueueMetrics().setVersion("1.0").setEnabled(true).setIncludeApis(true)
            .setRetentionPolicy(retention(days));
    }

    private static QueueCorsRule rule(String origin) {
        return new QueueCorsRule().setAllowedOrigins(origin).setAllowedMethods("GET,PUT")
            .setAllowedHeaders("x-ms-*").setExposedHeaders("x-ms-request-id").setMaxAgeInSeconds(60);
    }

    @Test
    @Operation("GetQueueServiceProperties")
    void queueServicePropertiesHaveEverySection() {
        assertEquals("1.0", before.getAnalyticsLogging().getVersion());
        assertNotNull(before.getHourMetrics());
        assertNotNull(before.getMinuteMetrics());
    }

    @Test
    @Operation("SetQueueServiceProperties")
    void queueServicePropertiesComeBackAsSet() throws Exception {
        QueueAnalyticsLogging logging = new QueueAnalyticsLogging().setVersion("1.0").setRead(true).setWrite(true)
            .setDelete(false).setRetentionPolicy(retention(5));
        int status = SERVICE.setPropertiesWithResponse(new QueueServiceProperties().setAnalyticsLogging(logging)
            .setHourMetrics(metrics(6)).setMinuteMetrics(metrics(7))
            .setCors(List.of(rule("http://one.example"), rule("*"))), null, Context.NONE).getStatusCode();
        assertEquals(202, status);
        ACCOUNT.eventually(() -> SERVICE.getProperties().getCors().size() == 2);
        QueueServiceProperties found = SERVICE.getProperties();
        assertEquals(5, found.getAnalyticsLogging().getRetentionPolicy().getDays());
        assertEquals(6, found.getHourMetrics().getRetentionPolicy().getDays());
        assertEquals(7, found.getMinuteMetrics().getRetentionPolicy().getDays());
        assertEquals("http://one.example", found.getCors().get(0).getAllowedOrigins());
        assertEquals("GET,PUT", found.getCors().get(0).getAllowedMethods());
        assertEquals(60, found.getCors().get(0).getMaxAgeInSeconds());
    }

    @Test
    @Operation("SetQueueServiceProperties")
    void queueServiceRefusesRetentionOf366Days() {
        QueueServiceProperties tooLong = new QueueServiceProperties().setHourMetrics(metrics(366));
        assertRefused(400, "InvalidXmlDocument", () -> SERVICE.setProperties(tooLong));
    }

    @Test
    @Operation("GetQueueServiceStats")
    void queuePrimaryHasNoStatistics() {
        assertRefused(400, "InvalidQueryParameterValue", SERVICE::getStatistics);
    }
}
