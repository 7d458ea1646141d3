package tablerock.conformance.blobs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.azure.core.http.rest.PagedResponse;
import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import com.azure.storage.blob.batch.BlobBatch;
import com.azure.storage.blob.batch.BlobBatchClient;
import com.azure.storage.blob.batch.BlobBatchClientBuilder;
import com.azure.storage.blob.batch.BlobBatchStorageException;
import com.azure.storage.blob.models.BlobErrorCode;
import com.azure.storage.blob.models.BlobItem;
import com.azure.storage.blob.models.BlobItemProperties;
import com.azure.storage.blob.models.BlobListDetails;
import com.azure.storage.blob.models.BlobStorageException;
import com.azure.storage.blob.models.BlobType;
import com.azure.storage.blob.models.DeleteSnapshotsOptionType;
import com.azure.storage.blob.models.ListBlobsOptions;
import com.azure.storage.blob.options.BlockBlobSimpleUploadOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

/** Many blobs at once: listed, and deleted in a batch. */
class ListingTest extends BlobCase {
    @Test
    @Operation("ListBlobs")
    void blobsAreListedByName() {
        putAll("b", "a", "B", "a/2", "a/10", "a.b", "~");
        assertEquals(List.of("B", "a", "a.b", "a/10", "a/2", "b", "~"), names());
    }

    @Test
    @Operation("ListBlobs")
    void emptyContainerListsNothing() {
        assertEquals(List.of(), names());
    }

    @Test
    @Operation("ListBlobs")
    void listedBlobTellsItsProperties() {
        block("b").uploadWithResponse(new BlockBlobSimpleUploadOptions(BinaryData.fromString("hello"))
            .setHeaders(everyHeader()).setMetadata(Map.of("Colour", "red & <blue>")), null, Context.NONE);
        BlobItem listed = list(new ListBlobsOptions().setDetails(new BlobListDetails().setRetrieveMetadata(true)))
            .get(0);
        BlobItemProperties found = listed.getProperties();
        assertEquals(properties("b").getETag().replace("\"", ""), found.getETag().replace("\"", ""));
        assertEquals(5L, found.getContentLength());
        assertArrayEquals(md5("hello"), found.getContentMd5());
        assertEquals("text/plain; charset=utf-8", found.getContentType());
        assertEquals("max-age=60", found.getCacheControl());
        assertEquals(BlobType.BLOCK_BLOB, found.getBlobType());
        assertNotNull(found.getCreationTime());
        assertEquals(Map.of("colour", "red & <blue>"), anyCase(listed.getMetadata()));
    }

    @Test
    @Operation("ListBlobs")
    void listingIsBoundByPrefixAndComesInPages() {
        putAll("a", "b1", "b2", "b3", "c");
        List<List<String>> pages = new ArrayList<>();
        ListBlobsOptions options = new ListBlobsOptions().setPrefix("b").setMaxResultsPerPage(2);
        for (PagedResponse<BlobItem> page : container.listBlobs(options, null).iterableByPage()) {
            pages.add(page.getValue().stream().map(BlobItem::getName).toList());
        }
        assertEquals(List.of(List.of("b1", "b2"), List.of("b3")), pages);
    }

    static Stream<Arguments> hierarchies() {
        return Stream.of(
            arguments("from the top", "", List.of("a", "a/*", "c/*", "d")),
            arguments("in a folder", "a/", List.of("a/1", "a/2", "a/b/*")),
            arguments("without the slash", "a", List.of("a", "a/*")),
            arguments("where nothing is", "x/", List.of()));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("ListBlobs")
    @MethodSource("hierarchies")
    void listingByHierarchy(String description, String prefix, List<String> expected) {
        putAll("a", "a/1", "a/2", "a/b/3", "c//4", "d");
        List<String> found = container.listBlobsByHierarchy(prefix).stream()
            .map(item -> Boolean.TRUE.equals(item.isPrefix()) ? item.getName() + "*" : item.getName()).sorted()
            .toList();
        assertEquals(expected, found);
    }

    @Test
    @Operation("ListBlobs")
    void snapshotsAreListedWhenAsked() {
        put("b", "text");
        String snapshot = blob("b").createSnapshot().getSnapshotId();
        List<BlobItem> listed
            = list(new ListBlobsOptions().setDetails(new BlobListDetails().setRetrieveSnapshots(true)));
        assertEquals(snapshot, listed.get(0).getSnapshot());
        assertEquals(2, listed.size());
        assertEquals(1, names().size());
    }

    @Test
    @Operation("ListBlobs")
    void uncommittedBlobsAreListedWhenAsked() {
        stage("b", 1, "text");
        assertEquals(List.of(), names());
        List<BlobItem> listed
            = list(new ListBlobsOptions().setDetails(new BlobListDetails().setRetrieveUncommittedBlobs(true)));
        assertEquals("b", listed.get(0).getName());
    }

    private BlobBatchClient batches() {
        return new BlobBatchClientBuilder(SERVICE).buildClient();
    }

    @Test
    @Operation("BlobBatch")
    void batchDeletesBlobs() {
        putAll("a", "b c", "kept");
        List<Integer> statuses = batches().deleteBlobs(List.of(blob("a").getBlobUrl(), blob("b c").getBlobUrl()),
            DeleteSnapshotsOptionType.INCLUDE).stream().map(response -> response.getStatusCode()).toList();
        assertEquals(List.of(202, 202), statuses);
        assertEquals(List.of("kept"), names());
    }

    @Test
    @Operation("BlobBatch")
    void batchTellsWhichPartsFailed() {
        putAll("a", "b");
        BlobBatch batch = batches().getBlobBatch();
        for (String name : List.of("a", "none", "b")) {
            // Told container and name apart, the SDK forgets an account in the path.
            batch.deleteBlob(blob(name).getBlobUrl());
        }
        BlobBatchStorageException failure
            = Assertions.assertThrows(BlobBatchStorageException.class, () -> batches().submitBatch(batch));
        List<BlobStorageException> failures = new ArrayList<>();
        failure.getBatchExceptions().forEach(failures::add);
        assertEquals(List.of(BlobErrorCode.BLOB_NOT_FOUND),
            failures.stream().map(BlobStorageException::getErrorCode).toList());
        assertTrue(names().isEmpty());
    }
}
