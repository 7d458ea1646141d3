package tablerock.conformance.blobs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.Refusals.assertRefused;

import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import com.azure.storage.blob.models.AppendBlobItem;
import com.azure.storage.blob.models.AppendBlobRequestConditions;
import com.azure.storage.blob.models.BlobProperties;
import com.azure.storage.blob.models.BlobRange;
import com.azure.storage.blob.models.BlobType;
import com.azure.storage.blob.models.Block;
import com.azure.storage.blob.models.BlockList;
import com.azure.storage.blob.models.BlockListType;
import com.azure.storage.blob.models.ParallelTransferOptions;
import com.azure.storage.blob.options.BlobParallelUploadOptions;
import com.azure.storage.blob.options.BlockBlobCommitBlockListOptions;
import com.azure.storage.blob.options.BlockBlobStageBlockOptions;
import com.azure.storage.blob.specialized.AppendBlobClient;
import com.azure.storage.blob.specialized.BlobInputStream;
import com.azure.storage.blob.specialized.BlobOutputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tablerock.conformance.Operation;

/** Blobs that grow: from blocks, by appending, and through the SDK's streams and parallel transfers. */
class BlocksTest extends BlobCase {
    private static final int MEBIBYTE = 1 << 20;

    private String commit(String name, int... numbers) {
        List<String> ids = IntStream.of(numbers).mapToObj(BlobCase::blockId).toList();
        return block(name).commitBlockList(ids, true).getETag();
    }

    private static List<String> shown(List<Block> blocks) {
        return blocks.stream().map(block -> block.getName() + " " + block.getSizeLong()).toList();
    }

    @Test
    @Operation("PutBlock")
    void stagedBlocksAreNoBlobYet() {
        stage("b", 1, "text");
        assertRefused(404, "BlobNotFound", () -> blob("b").getProperties());
        assertEquals(List.of(), names());
        BlockList found = block("b").listBlocks(BlockListType.ALL);
        assertEquals(List.of(), shown(found.getCommittedBlocks()));
        assertEquals(List.of(blockId(1) + " 4"), shown(found.getUncommittedBlocks()));
    }

    @Test
    @Operation("PutBlockList")
    void blockListDecidesTheOrder() {
        stage("b", 1, "one,");
        stage("b", 2, "two,");
        String etag = commit("b", 2, 1, 2);
        assertEquals("two,one,two,", text("b"));
        BlobProperties found = properties("b");
        assertEquals(etag, found.getETag());
        assertNull(found.getContentMd5());
        assertEquals(3, block("b").listBlocks(BlockListType.COMMITTED).getCommittedBlocks().size());
    }

    @Test
    @Operation("PutBlockList")
    void blockListMixesOldAndNewBlocks() {
        stage("b", 0, "a");
        stage("b", 1, "b");
        commit("b", 0, 1);
        stage("b", 1, "B");
        commit("b", 1, 0);
        assertEquals("Ba", text("b"));
    }

    @Test
    @Operation("PutBlockList")
    void blocksThatAreNotListedAreForgotten() {
        stage("b", 1, "kept");
        stage("b", 2, "forgotten");
        commit("b", 1);
        assertRefused(400, "InvalidBlockList", () -> commit("b", 2));
    }

    @Test
    @Operation("PutBlockList")
    void blockListSetsHeadersAndMetadata() {
        stage("b", 1, "text");
        block("b").commitBlockListWithResponse(new BlockBlobCommitBlockListOptions(List.of(blockId(1)))
            .setHeaders(everyHeader()).setMetadata(Map.of("a", "b")), null, Context.NONE);
        assertEquals("max-age=60", properties("b").getCacheControl());
        assertEquals(Map.of("a", "b"), anyCase(properties("b").getMetadata()));
    }

    @Test
    @Operation("PutBlock")
    void blockIsRefusedWithAnIdOfAnotherLength() {
        stage("b", 1, "text");
        assertRefused(400, "InvalidBlobOrBlock", () -> block("b").stageBlock("c2hvcnQ=", BinaryData.fromString("x")));
    }

    @Test
    @Operation("PutBlock")
    void blockIsRefusedWithAWrongMd5() {
        assertRefused(400, "Md5Mismatch", () -> block("b").stageBlockWithResponse(
            new BlockBlobStageBlockOptions(blockId(1), BinaryData.fromString("text")).setContentMd5(md5("other")),
            null, Context.NONE));
    }

    @Test
    @Operation("AppendBlock")
    void appendsComeOneAfterAnother() {
        AppendBlobClient log = createAppendBlob("log");
        AppendBlobItem first = log.appendBlock(BinaryData.fromString("one\n").toStream(), 4);
        assertEquals("0", first.getBlobAppendOffset());
        assertEquals(1, first.getBlobCommittedBlockCount());
        AppendBlobItem second = log.appendBlock(BinaryData.fromString("two\n").toStream(), 4);
        assertEquals("4", second.getBlobAppendOffset());
        assertEquals("one\ntwo\n", text("log"));
        assertEquals(BlobType.APPEND_BLOB, properties("log").getBlobType());
        assertEquals(2, properties("log").getCommittedBlockCount());
    }

    static Stream<Arguments> appendConditions() {
        return Stream.of(
            arguments("before the end", new AppendBlobRequestConditions().setAppendPosition(0L),
                "AppendPositionConditionNotMet"),
            arguments("over the size", new AppendBlobRequestConditions().setMaxSize(5L),
                "MaxBlobSizeConditionNotMet"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("AppendBlock")
    @MethodSource("appendConditions")
    void appendIsRefused(String description, AppendBlobRequestConditions conditions, String code) {
        AppendBlobClient log = createAppendBlob("log");
        append(log, "1234");
        assertRefused(412, code, () -> log.appendBlockWithResponse(BinaryData.fromString("56").toStream(), 2, null,
            conditions, null, Context.NONE));
    }

    @Test
    @Operation("AppendBlock")
    void appendToABlockBlobIsRefused() {
        put("b", "text");
        assertRefused(409, "InvalidBlobType", () -> append(blob("b").getAppendBlobClient(), "x"));
    }

    @Test
    @Operation("PutBlob")
    void appendBlobIsCreatedOnce() {
        AppendBlobClient log = createAppendBlob("log");
        append(log, "kept");
        assertNull(log.createIfNotExists());
        assertRefused(409, "BlobAlreadyExists", () -> log.create(false));
        assertEquals("kept", text("log"));
    }

    private static byte[] noise(int size) {
        byte[] content = new byte[size];
        new Random(size).nextBytes(content);
        return content;
    }

    @Test
    @Operation("PutBlock")
    void uploadOfBlocksInParallel() {
        byte[] content = noise(20 * MEBIBYTE + 17);
        ParallelTransferOptions parallel = new ParallelTransferOptions().setBlockSizeLong((long) MEBIBYTE)
            .setMaxConcurrency(5).setMaxSingleUploadSizeLong((long) MEBIBYTE);
        blob("b").uploadWithResponse(new BlobParallelUploadOptions(new ByteArrayInputStream(content))
            .setParallelTransferOptions(parallel).setMetadata(Map.of("a", "b")), null, Context.NONE);
        assertEquals(21, block("b").listBlocks(BlockListType.ALL).getCommittedBlocks().size());
        assertArrayEquals(content, blob("b").downloadContent().toBytes());
    }

    @ParameterizedTest(name = "{0}")
    @Operation("GetBlob")
    @ValueSource(ints = {0, 1, MEBIBYTE, 5 * MEBIBYTE + 3})
    void streamGoesInAndComesOutWithBytes(int size) throws IOException {
        byte[] content = noise(size);
        try (BlobOutputStream out = block("b").getBlobOutputStream()) {
            out.write(content);
        }
        assertEquals(size, properties("b").getBlobSize());
        try (BlobInputStream in = blob("b").openInputStream()) {
            assertArrayEquals(content, in.readAllBytes());
        }
    }

    @Test
    @Operation("GetBlob")
    void streamOfARange() throws IOException {
        put("b", "0123456789");
        try (BlobInputStream in = blob("b").openInputStream(new BlobRange(3, 4L), null)) {
            assertEquals("3456", new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }
}
