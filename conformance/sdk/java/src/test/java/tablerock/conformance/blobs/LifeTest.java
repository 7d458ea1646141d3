package tablerock.conformance.blobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.Refusals.assertRefused;

import com.azure.core.util.Context;
import com.azure.storage.blob.models.BlobCopyInfo;
import com.azure.storage.blob.models.BlobProperties;
import com.azure.storage.blob.models.BlobRequestConditions;
import com.azure.storage.blob.models.CopyStatusType;
import com.azure.storage.blob.models.DeleteSnapshotsOptionType;
import com.azure.storage.blob.models.LeaseDurationType;
import com.azure.storage.blob.models.LeaseStateType;
import com.azure.storage.blob.options.BlobBreakLeaseOptions;
import com.azure.storage.blob.sas.BlobSasPermission;
import com.azure.storage.blob.sas.BlobServiceSasSignatureValues;
import com.azure.storage.blob.specialized.BlobClientBase;
import com.azure.storage.blob.specialized.BlobLeaseClient;
import com.azure.storage.blob.specialized.BlobLeaseClientBuilder;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

/** What happens to a blob in its life: snapshots, copies, leases, its end. */
class LifeTest extends BlobCase {
    private static final String HELD = "11111111-1111-1111-1111-111111111111";
    private static final String OTHER = "22222222-2222-2222-2222-222222222222";

    @Test
    @Operation("SnapshotBlob")
    void snapshotKeepsWhatWas() {
        put("b", "old");
        blob("b").setMetadata(Map.of("age", "old"));
        BlobClientBase snapshot = blob("b").createSnapshot();
        put("b", "new");
        assertEquals("old", snapshot.downloadContent().toString());
        assertEquals(Map.of("age", "old"), anyCase(snapshot.getProperties().getMetadata()));
        assertEquals("new", text("b"));
    }

    @Test
    @Operation("DeleteBlob")
    void blobWithSnapshotsIsNotDeletedAlone() {
        put("b", "text");
        BlobClientBase snapshot = blob("b").createSnapshot();
        assertRefused(409, "SnapshotsPresent", () -> blob("b").delete());
        blob("b").deleteWithResponse(DeleteSnapshotsOptionType.ONLY, null, null, Context.NONE);
        assertRefused(404, "BlobNotFound", snapshot::getProperties);
        assertEquals("text", text("b"));
        blob("b").createSnapshot();
        blob("b").deleteWithResponse(DeleteSnapshotsOptionType.INCLUDE, null, null, Context.NONE);
        assertRefused(404, "BlobNotFound", () -> blob("b").getProperties());
    }

    @Test
    @Operation("CopyBlob")
    void copyWithinTheAccount() {
        put("source", "text");
        blob("source").setMetadata(Map.of("a", "b"));
        BlobCopyInfo copied = blob("target").beginCopy(blob("source").getBlobUrl(), Duration.ofSeconds(1))
            .waitForCompletion().getValue();
        assertEquals(CopyStatusType.SUCCESS, copied.getCopyStatus());
        assertEquals("text", text("target"));
        BlobProperties found = properties("target");
        assertEquals(copied.getCopyId(), found.getCopyId());
        assertEquals("4/4", found.getCopyProgress());
        assertEquals(blob("source").getBlobUrl(), found.getCopySource());
        assertEquals(Map.of("a", "b"), anyCase(found.getMetadata()));
        assertNotEquals(properties("source").getETag(), found.getETag());
    }

    @Test
    @Operation("CopyBlobFromURL")
    void synchronousCopyOfASignedSource() {
        put("source", "text");
        String token = blob("source").generateSas(new BlobServiceSasSignatureValues(OffsetDateTime.now().plusHours(1),
            new BlobSasPermission().setReadPermission(true)));
        blob("target").copyFromUrl(blob("source").getBlobUrl() + "?" + token);
        assertEquals("text", text("target"));
    }

    private BlobLeaseClient lease(String id) {
        return new BlobLeaseClientBuilder().blobClient(blob("b")).leaseId(id).buildClient();
    }

    @Test
    @Operation("AcquireBlobLease")
    void leaseIsAcquiredRenewedChangedAndReleased() {
        String etag = put("b", "text");
        BlobLeaseClient lease = lease(HELD);
        assertEquals(HELD, lease.acquireLease(60));
        assertEquals(LeaseStateType.LEASED, properties("b").getLeaseState());
        assertEquals(LeaseDurationType.FIXED, properties("b").getLeaseDuration());
        assertEquals(etag, properties("b").getETag());
        assertEquals(HELD, lease.renewLease());
        assertEquals(OTHER, lease.changeLease(OTHER));
        lease.releaseLease();
        assertEquals(LeaseStateType.AVAILABLE, properties("b").getLeaseState());
    }

    @Test
    @Operation("BreakBlobLease")
    void leaseIsBroken() {
        put("b", "text");
        lease(HELD).acquireLease(-1);
        assertEquals(LeaseDurationType.INFINITE, properties("b").getLeaseDuration());
        assertEquals(0, lease(HELD).breakLease());
        assertEquals(LeaseStateType.BROKEN, properties("b").getLeaseState());
    }

    @Test
    @Operation("BreakBlobLease")
    void leaseIsBreakingForAWhile() {
        put("b", "text");
        lease(HELD).acquireLease(60);
        int rest = lease(HELD).breakLeaseWithResponse(
            new BlobBreakLeaseOptions().setBreakPeriod(Duration.ofSeconds(20)), null, Context.NONE).getValue();
        assertTrue(rest <= 20 && rest >= 18, () -> "broken in " + rest);
        assertEquals(LeaseStateType.BREAKING, properties("b").getLeaseState());
        assertRefused(409, "LeaseIsBreakingAndCannotBeAcquired", () -> lease(HELD).acquireLease(15));
    }

    static Stream<Arguments> refusedActions() {
        return Stream.of(
            arguments("acquired by another", "LeaseAlreadyPresent"),
            arguments("renewed by another", "LeaseIdMismatchWithLeaseOperation"),
            arguments("released by another", "LeaseIdMismatchWithLeaseOperation"),
            arguments("changed by another", "LeaseIdMismatchWithLeaseOperation"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("AcquireBlobLease")
    @MethodSource("refusedActions")
    void leaseIsNot(String action, String code) {
        put("b", "text");
        lease(HELD).acquireLease(60);
        assertRefused(409, code, () -> {
            switch (action) {
                case "acquired by another" -> lease(OTHER).acquireLease(15);
                case "renewed by another" -> lease(OTHER).renewLease();
                case "released by another" -> lease(OTHER).releaseLease();
                default -> lease(OTHER).changeLease("33333333-3333-3333-3333-333333333333");
            }
        });
    }

    @Test
    @Operation("AcquireContainerLease")
    void leaseOfAContainerGuardsItsDeletion() {
        BlobLeaseClient lease = new BlobLeaseClientBuilder().containerClient(container).leaseId(HELD).buildClient();
        lease.acquireLease(-1);
        put("b", "a lease of the container does not guard its blobs");
        assertRefused(412, "LeaseIdMissing", container::delete);
        assertRefused(412, "LeaseIdMismatchWithContainerOperation", () -> container
            .deleteWithResponse(new BlobRequestConditions().setLeaseId(OTHER), null, Context.NONE));
        container.deleteWithResponse(new BlobRequestConditions().setLeaseId(HELD), null, Context.NONE);
    }
}
