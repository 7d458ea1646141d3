package tablerock.conformance.blobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.storage.blob.models.AccountKind;
import com.azure.storage.blob.models.BlobCorsRule;
import com.azure.storage.blob.models.BlobMetrics;
import com.azure.storage.blob.models.BlobRetentionPolicy;
import com.azure.storage.blob.models.BlobServiceProperties;
import com.azure.storage.blob.models.GeoReplicationStatus;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tablerock.conformance.Operation;

/** Service properties and statistics. Properties belong to the account, so each case puts back what it found. */
class BlobServiceTest extends BlobCase {
    private BlobServiceProperties before;

    @BeforeEach
    void remember() {
        before = SERVICE.getProperties();
    }

    @AfterEach
    void restore() {
        SERVICE.setProperties(before);
    }

    private static BlobMetrics metrics(int days) {
        return new BlobMetrics().setVersion("1.0").setEnabled(true).setIncludeApis(true)
            .setRetentionPolicy(new BlobRetentionPolicy().setEnabled(true).setDays(days));
    }

    @Test
    @Operation("GetBlobServiceProperties")
    void blobServicePropertiesHaveEverySection() {
        assertEquals("1.0", before.getLogging().getVersion());
        assertNotNull(before.getHourMetrics());
        assertNotNull(before.getMinuteMetrics());
        assertNotNull(before.getDeleteRetentionPolicy());
    }

    @Test
    @Operation("SetBlobServiceProperties")
    void blobServicePropertiesComeBackAsSet() throws Exception {
        BlobCorsRule rule = new BlobCorsRule().setAllowedOrigins("http://one.example").setAllowedMethods("GET,PUT")
            .setAllowedHeaders("x-ms-*").setExposedHeaders("x-ms-request-id").setMaxAgeInSeconds(60);
        SERVICE.setProperties(new BlobServiceProperties().setHourMetrics(metrics(6)).setMinuteMetrics(metrics(7))
            .setCors(List.of(rule)).setDefaultServiceVersion("2019-12-12"));
        ACCOUNT.eventually(() -> SERVICE.getProperties().getCors().size() == 1);
        BlobServiceProperties found = SERVICE.getProperties();
        assertEquals(6, found.getHourMetrics().getRetentionPolicy().getDays());
        assertEquals(7, found.getMinuteMetrics().getRetentionPolicy().getDays());
        assertEquals("http://one.example", found.getCors().get(0).getAllowedOrigins());
        assertEquals("2019-12-12", found.getDefaultServiceVersion());
    }

    @Test
    @Operation("GetAccountInformation")
    void accountTellsItsKind() {
        assertEquals(AccountKind.STORAGE_V2, SERVICE.getAccountInfo().getAccountKind());
        assertNotNull(SERVICE.getAccountInfo().getSkuName());
    }

    @Test
    @Operation("GetBlobServiceStats")
    void blobSecondaryTellsItsReplicationState() {
        GeoReplicationStatus status = serviceBuilder().endpoint(ACCOUNT.secondary("Blob")).credential(credential())
            .buildClient().getStatistics().getGeoReplication().getStatus();
        assertTrue(GeoReplicationStatus.values().contains(status));
    }
}
