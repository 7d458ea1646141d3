package tablerock.conformance.blobs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.Refusals.assertRefused;

import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.rest.Response;
import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import com.azure.storage.blob.models.AccessTier;
import com.azure.storage.blob.models.BlobDownloadResponse;
import com.azure.storage.blob.models.BlobHttpHeaders;
import com.azure.storage.blob.models.BlobProperties;
import com.azure.storage.blob.models.BlobRange;
import com.azure.storage.blob.models.BlobRequestConditions;
import com.azure.storage.blob.models.BlobType;
import com.azure.storage.blob.models.BlockBlobItem;
import com.azure.storage.blob.models.LeaseStateType;
import com.azure.storage.blob.options.BlobParallelUploadOptions;
import com.azure.storage.blob.options.BlockBlobSimpleUploadOptions;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

/** Blobs that are written in one request, and how they are read. */
class BlobsTest extends BlobCase {
    private Response<BlockBlobItem> upload(String name, String text, BlobHttpHeaders headers,
        Map<String, String> metadata) {
        return block(name).uploadWithResponse(new BlockBlobSimpleUploadOptions(BinaryData.fromString(text))
            .setHeaders(headers).setMetadata(metadata), null, Context.NONE);
    }

    @Test
    @Operation("PutBlob")
    void blobIsPut() {
        Response<BlockBlobItem> answer = upload("b", "hello", null, null);
        assertEquals(201, answer.getStatusCode());
        assertArrayEquals(md5("hello"), answer.getValue().getContentMd5());
        assertTrue(answer.getValue().isServerEncrypted());
        assertEquals("hello", text("b"));
    }

    @Test
    @Operation("GetBlobProperties")
    void newBlobTellsItsProperties() {
        put("b", "hello");
        BlobProperties found = properties("b");
        assertEquals(5, found.getBlobSize());
        assertEquals("application/octet-stream", found.getContentType());
        assertArrayEquals(md5("hello"), found.getContentMd5());
        assertEquals(BlobType.BLOCK_BLOB, found.getBlobType());
        assertEquals(LeaseStateType.AVAILABLE, found.getLeaseState());
        assertEquals(AccessTier.HOT, found.getAccessTier());
        assertTrue(found.isAccessTierInferred());
        assertTrue(found.isServerEncrypted());
        assertNull(found.getContentEncoding());
        assertNull(found.getCopyId());
        assertEquals(Map.of(), found.getMetadata());
    }

    @Test
    @Operation("GetBlobProperties")
    void existsTellsWhichIsThere() {
        put("b", "text");
        assertTrue(blob("b").exists());
        assertFalse(blob("none").exists());
    }

    @Test
    @Operation("PutBlob")
    void blobKeepsItsContentHeaders() {
        upload("b", "hello", everyHeader(), Map.of("Colour", "red"));
        BlobProperties found = properties("b");
        assertEquals("text/plain; charset=utf-8", found.getContentType());
        assertEquals("identity", found.getContentEncoding());
        assertEquals("de", found.getContentLanguage());
        assertEquals("attachment; filename=\"a b.txt\"", found.getContentDisposition());
        assertEquals("max-age=60", found.getCacheControl());
        assertEquals(Map.of("colour", "red"), anyCase(found.getMetadata()));
    }

    static Stream<Arguments> blobNames() {
        return Stream.of(arguments("with slashes", "a/b/c.txt"), arguments("with blanks", "a b  c"),
            arguments("with a plus", "a+b"), arguments("with a percent sign", "100%"),
            arguments("with a question mark", "what?"), arguments("with a hash", "a#b"),
            arguments("with other delimiters", "a,b;c:d=e&f@g$h!i~j*k'(l)"), arguments("beyond ascii", "Grüße/世界"),
            arguments("beyond the basic plane", "🌍"), arguments("of 1024 characters", "n".repeat(1024)));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("PutBlob")
    @MethodSource("blobNames")
    void blobIsFoundByName(String description, String name) {
        put(name, "text");
        assertEquals("text", text(name));
        assertEquals(List.of(name), names());
    }

    @Test
    @Operation("PutBlob")
    void blobMayBeEmpty() {
        upload("b", "", null, null);
        assertEquals(0, properties("b").getBlobSize());
        assertEquals("", text("b"));
    }

    @Test
    @Operation("PutBlob")
    void uploadDoesNotReplaceWhenToldSo() {
        blob("b").upload(BinaryData.fromString("first"));
        assertRefused(409, "BlobAlreadyExists", () -> block("b").uploadWithResponse(
            new BlockBlobSimpleUploadOptions(BinaryData.fromString("second"))
                .setRequestConditions(new BlobRequestConditions().setIfNoneMatch("*")), null, Context.NONE));
        assertEquals("first", text("b"));
    }

    @Test
    @Operation("PutBlob")
    void uploadWithAWrongMd5IsRefused() {
        assertRefused(400, "Md5Mismatch", () -> block("b").uploadWithResponse(
            new BlockBlobSimpleUploadOptions(BinaryData.fromString("text")).setContentMd5(md5("other")), null,
            Context.NONE));
    }

    @Test
    @Operation("SetBlobMetadata")
    void blobMetadataIsReplaced() {
        String before = put("b", "text");
        blob("b").setMetadata(Map.of("one", "1", "two", "2"));
        blob("b").setMetadata(Map.of("two", "II"));
        BlobProperties found = properties("b");
        assertEquals(Map.of("two", "II"), anyCase(found.getMetadata()));
        assertNotEquals(before, found.getETag());
        assertEquals("text", text("b"));
    }

    @Test
    @Operation("SetBlobProperties")
    void blobHeadersAreReplacedTogether() {
        upload("b", "text", everyHeader(), Map.of("kept", "yes"));
        blob("b").setHttpHeaders(new BlobHttpHeaders().setContentType("image/png"));
        BlobProperties found = properties("b");
        assertEquals("image/png", found.getContentType());
        assertTrue(found.getCacheControl() == null || found.getCacheControl().isEmpty());
        assertTrue(found.getContentLanguage() == null || found.getContentLanguage().isEmpty());
        assertNull(found.getContentMd5());
        assertEquals(Map.of("kept", "yes"), anyCase(found.getMetadata()));
    }

    static Stream<Arguments> ranges() {
        return Stream.of(
            arguments("the first byte", new BlobRange(0, 1L), "0", "bytes 0-0/10"),
            arguments("some in the middle", new BlobRange(3, 4L), "3456", "bytes 3-6/10"),
            arguments("all from an offset", new BlobRange(4), "456789", "bytes 4-9/10"),
            arguments("more than there is", new BlobRange(8, 100L), "89", "bytes 8-9/10"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("GetBlob")
    @MethodSource("ranges")
    void rangeOf(String description, BlobRange range, String text, String header) {
        put("b", "0123456789");
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        BlobDownloadResponse answer
            = blob("b").downloadStreamWithResponse(content, range, null, null, true, null, Context.NONE);
        assertEquals(206, answer.getStatusCode());
        assertEquals(text, content.toString(StandardCharsets.UTF_8));
        assertEquals(header, answer.getHeaders().getValue(HttpHeaderName.CONTENT_RANGE));
        assertArrayEquals(md5(text), answer.getDeserializedHeaders().getContentMd5());
        assertArrayEquals(md5("0123456789"), answer.getDeserializedHeaders().getBlobContentMD5());
    }

    @Test
    @Operation("GetBlob")
    void rangeBeyondTheEndIsRefused() {
        put("b", "0123456789");
        assertRefused(416, "InvalidRange", () -> blob("b").downloadStreamWithResponse(new ByteArrayOutputStream(),
            new BlobRange(100, 1L), null, null, false, null, Context.NONE));
    }

    @Test
    @Operation("GetBlob")
    void missingBlobIsNotFound() {
        assertRefused(404, "BlobNotFound", () -> blob("none").downloadContent());
        assertRefused(404, "BlobNotFound", () -> blob("none").getProperties());
        assertRefused(404, "BlobNotFound", () -> blob("none").delete());
        assertRefused(404, "BlobNotFound", () -> blob("none").setMetadata(Map.of("a", "b")));
        assertFalse(blob("none").deleteIfExists());
    }

    @Test
    @Operation("SetBlobTags")
    void tagsAreSetAndRead() {
        blob("b").uploadWithResponse(new BlobParallelUploadOptions(BinaryData.fromString("text"))
            .setTags(Map.of("of", "the upload")), null, Context.NONE);
        assertEquals(Map.of("of", "the upload"), blob("b").getTags());
        blob("b").setTags(Map.of("project", "one two", "a+b", "x=y/z:1"));
        assertEquals(Map.of("project", "one two", "a+b", "x=y/z:1"), blob("b").getTags());
        assertEquals(2L, properties("b").getTagCount());
    }

    @Test
    @Operation("SetBlobTier")
    void tierIsSet() {
        put("b", "text");
        blob("b").setAccessTier(AccessTier.COOL);
        assertEquals(AccessTier.COOL, properties("b").getAccessTier());
    }
}
