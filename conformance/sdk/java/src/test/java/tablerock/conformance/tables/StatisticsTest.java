package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static tablerock.conformance.tables.Refusals.assertRefused;

import com.azure.data.tables.models.TableServiceGeoReplication;
import com.azure.data.tables.models.TableServiceGeoReplicationStatus;
import org.junit.jupiter.api.Test;
import tablerock.conformance.Operation;

class StatisticsTest extends Case {
    @Test
    @Operation("GetTableServiceStats")
    void secondaryTellsItsReplicationState() {
        TableServiceGeoReplication found = ACCOUNT.serviceBuilder().endpoint(ACCOUNT.secondary())
            .credential(ACCOUNT.credential()).buildClient().getStatistics().getGeoReplication();
        assertTrue(TableServiceGeoReplicationStatus.values().contains(found.getStatus()));
        if (found.getStatus().equals(TableServiceGeoReplicationStatus.LIVE)) {
            assertNotNull(found.getLastSyncTime());
        }
    }

    @Test
    @Operation("GetTableServiceStats")
    void primaryHasNoStatistics() {
        assertRefused(400, "InvalidQueryParameterValue", SERVICE::getStatistics);
    }
}
