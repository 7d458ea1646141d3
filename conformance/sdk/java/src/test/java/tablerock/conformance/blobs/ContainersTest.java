package tablerock.conformance.blobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.Refusals.assertRefused;
import static tablerock.conformance.Refusals.assertRefusedWith;

import com.azure.core.http.rest.PagedResponse;
import com.azure.core.util.Context;
import com.azure.storage.blob.BlobContainerClient;
import com.azure.storage.blob.models.BlobAccessPolicy;
import com.azure.storage.blob.models.BlobContainerAccessPolicies;
import com.azure.storage.blob.models.BlobContainerItem;
import com.azure.storage.blob.models.BlobContainerListDetails;
import com.azure.storage.blob.models.BlobContainerProperties;
import com.azure.storage.blob.models.BlobRequestConditions;
import com.azure.storage.blob.models.BlobSignedIdentifier;
import com.azure.storage.blob.models.LeaseStateType;
import com.azure.storage.blob.models.LeaseStatusType;
import com.azure.storage.blob.models.ListBlobContainersOptions;
import com.azure.storage.blob.models.PublicAccessType;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

/** Containers: made, removed, described, opened to the public, listed. */
class ContainersTest extends BlobCase {
    @Test
    @Operation("CreateContainer")
    void containerIsCreatedOnce() {
        BlobContainerClient fresh = SERVICE.getBlobContainerClient(deleteAfterwards(newContainerName()));
        assertFalse(fresh.exists());
        assertTrue(fresh.createIfNotExists());
        assertFalse(fresh.createIfNotExists());
        assertTrue(fresh.exists());
        assertRefused(409, "ContainerAlreadyExists", fresh::create);
    }

    static Stream<Arguments> badNames() {
        return Stream.of(
            arguments("of two characters", "ab", "OutOfRangeInput"),
            arguments("of 64 characters", "a".repeat(64), "OutOfRangeInput"),
            arguments("with an upper case letter", "Abc", "InvalidResourceName"),
            arguments("with two dashes in a row", "a--b", "InvalidResourceName"),
            arguments("with a dash at its end", "abc-", "InvalidResourceName"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("CreateContainer")
    @MethodSource("badNames")
    void createContainerRefusesName(String description, String name, String code) {
        assertRefused(400, code, () -> SERVICE.createBlobContainer(name));
    }

    @Test
    @Operation("DeleteContainer")
    void containerIsDeletedWithItsBlobs() {
        put("b", "text");
        assertEquals(202, container.deleteWithResponse(null, null, Context.NONE).getStatusCode());
        assertFalse(container.exists());
        assertRefused(404, "ContainerNotFound", () -> container.listBlobs().stream().toList());
        assertRefused(404, "ContainerNotFound", () -> put("b", "text"));
    }

    @Test
    @Operation("DeleteContainer")
    void containerConditionsOnTimeGuardItsDeletion() {
        BlobRequestConditions later = new BlobRequestConditions().setIfModifiedSince(OffsetDateTime.now().plusHours(1));
        assertRefused(412, "ConditionNotMet", () -> container.deleteWithResponse(later, null, Context.NONE));
        BlobRequestConditions earlier
            = new BlobRequestConditions().setIfUnmodifiedSince(OffsetDateTime.now().minusHours(1));
        assertRefused(412, "ConditionNotMet", () -> container.deleteWithResponse(earlier, null, Context.NONE));
    }

    @Test
    @Operation("GetContainerProperties")
    void newContainerTellsItsProperties() {
        BlobContainerProperties found = container.getProperties();
        assertEquals(LeaseStateType.AVAILABLE, found.getLeaseState());
        assertEquals(LeaseStatusType.UNLOCKED, found.getLeaseStatus());
        assertNull(found.getLeaseDuration());
        assertNull(found.getBlobPublicAccess());
        assertFalse(found.hasImmutabilityPolicy());
        assertFalse(found.hasLegalHold());
        assertEquals(Map.of(), found.getMetadata());
    }

    @Test
    @Operation("SetContainerMetadata")
    void containerMetadataIsReplaced() {
        String before = container.getProperties().getETag();
        container.setMetadata(Map.of("one", "1", "two", "2"));
        container.setMetadata(Map.of("two", "II"));
        BlobContainerProperties found = container.getProperties();
        assertEquals(Map.of("two", "II"), anyCase(found.getMetadata()));
        assertNotEquals(before, found.getETag());
        container.setMetadata(null);
        assertEquals(Map.of(), container.getProperties().getMetadata());
    }

    private static BlobSignedIdentifier policy(String id, String permissions) {
        OffsetDateTime now = OffsetDateTime.now().truncatedTo(ChronoUnit.SECONDS);
        return new BlobSignedIdentifier().setId(id).setAccessPolicy(new BlobAccessPolicy()
            .setStartsOn(now.minusHours(1)).setExpiresOn(now.plusHours(1)).setPermissions(permissions));
    }

    @Test
    @Operation("SetContainerACL")
    void containerPoliciesComeBackAsSet() {
        List<BlobSignedIdentifier> set = List.of(policy("one", "r"), policy("two", "racwdl"));
        container.setAccessPolicy(null, set);
        BlobContainerAccessPolicies found = container.getAccessPolicy();
        assertNull(found.getBlobAccessType());
        assertEquals(2, found.getIdentifiers().size());
        for (int i = 0; i < 2; i++) {
            BlobAccessPolicy expected = set.get(i).getAccessPolicy();
            BlobAccessPolicy actual = found.getIdentifiers().get(i).getAccessPolicy();
            assertEquals(set.get(i).getId(), found.getIdentifiers().get(i).getId());
            assertEquals(expected.getPermissions(), actual.getPermissions());
            assertEquals(expected.getStartsOn().toInstant(), actual.getStartsOn().toInstant());
            assertEquals(expected.getExpiresOn().toInstant(), actual.getExpiresOn().toInstant());
        }
        container.setAccessPolicy(null, null);
        List<BlobSignedIdentifier> cleared = container.getAccessPolicy().getIdentifiers();
        assertTrue(cleared == null || cleared.isEmpty());
    }

    @Test
    @Operation("SetContainerACL")
    void sixContainerPoliciesAreRefused() {
        List<BlobSignedIdentifier> six = Stream.of("1", "2", "3", "4", "5", "6").map(id -> policy(id, "r")).toList();
        assertRefused(400, "InvalidXmlDocument", () -> container.setAccessPolicy(null, six));
    }

    enum Access {
        TO_NONE(null, false, false), TO_BLOBS(PublicAccessType.BLOB, true, false),
        TO_THE_CONTAINER(PublicAccessType.CONTAINER, true, true);

        final PublicAccessType type;
        final boolean isRead;
        final boolean isListed;

        Access(PublicAccessType type, boolean isRead, boolean isListed) {
            this.type = type;
            this.isRead = isRead;
            this.isListed = isListed;
        }
    }

    @ParameterizedTest(name = "{0}")
    @Operation("SetContainerACL")
    @EnumSource
    void publicAccess(Access access) {
        put("b", "text");
        container.setAccessPolicy(access.type, null);
        assertEquals(access.type, container.getProperties().getBlobPublicAccess());
        BlobContainerClient stranger = serviceBuilder().buildClient()
            .getBlobContainerClient(container.getBlobContainerName());
        if (access.isRead) {
            assertEquals("text", stranger.getBlobClient("b").downloadContent().toString());
        } else {
            assertRefusedWith(() -> stranger.getBlobClient("b").downloadContent(), 401, 403, 404, 409);
        }
        if (access.isListed) {
            assertEquals(1, stranger.listBlobs().stream().count());
        } else {
            assertRefusedWith(() -> stranger.listBlobs().stream().toList(), 401, 403, 404, 409);
        }
        assertRefusedWith(() -> stranger.getBlobClient("b").delete(), 401, 403, 404, 409);
    }

    /** Containers whose names share a prefix of their own. */
    private String family(String... members) {
        String prefix = newContainerName();
        for (String member : members) {
            SERVICE.createBlobContainerWithResponse(deleteAfterwards(prefix + member), Map.of("member", member), null,
                Context.NONE);
        }
        return prefix;
    }

    private static List<List<String>> pages(String prefix, Integer size) {
        List<List<String>> pages = new ArrayList<>();
        ListBlobContainersOptions options
            = new ListBlobContainersOptions().setPrefix(prefix).setMaxResultsPerPage(size);
        for (PagedResponse<BlobContainerItem> page : SERVICE.listBlobContainers(options, null).iterableByPage()) {
            pages.add(page.getValue().stream().map(item -> item.getName().substring(prefix.length())).toList());
        }
        return pages;
    }

    @Test
    @Operation("ListContainers")
    void containersAreListedByName() {
        assertEquals(List.of(List.of("a", "b", "c10", "c2")), pages(family("b", "a", "c2", "c10"), null));
    }

    @Test
    @Operation("ListContainers")
    void containersAreListedInPages() {
        assertEquals(List.of(List.of("1", "2"), List.of("3", "4"), List.of("5")),
            pages(family("1", "2", "3", "4", "5"), 2));
    }

    @Test
    @Operation("ListContainers")
    void listedContainerTellsItsProperties() {
        String prefix = family("x");
        ListBlobContainersOptions options = new ListBlobContainersOptions().setPrefix(prefix)
            .setDetails(new BlobContainerListDetails().setRetrieveMetadata(true));
        BlobContainerItem listed = SERVICE.listBlobContainers(options, null).stream().toList().get(0);
        BlobContainerProperties found = SERVICE.getBlobContainerClient(prefix + "x").getProperties();
        // The SDK takes the quotes off in one place and not in the other.
        assertEquals(found.getETag().replace("\"", ""), listed.getProperties().getETag().replace("\"", ""));
        assertEquals(found.getLastModified().toInstant(), listed.getProperties().getLastModified().toInstant());
        assertEquals(LeaseStateType.AVAILABLE, listed.getProperties().getLeaseState());
        assertEquals(Map.of("member", "x"), anyCase(listed.getMetadata()));
    }
}
