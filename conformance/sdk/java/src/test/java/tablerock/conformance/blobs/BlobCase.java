package tablerock.conformance.blobs;

import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.core.util.BinaryData;
import com.azure.storage.blob.BlobClient;
import com.azure.storage.blob.BlobContainerClient;
import com.azure.storage.blob.BlobServiceClient;
import com.azure.storage.blob.BlobServiceClientBuilder;
import com.azure.storage.blob.models.BlobHttpHeaders;
import com.azure.storage.blob.models.BlobItem;
import com.azure.storage.blob.models.BlobProperties;
import com.azure.storage.blob.models.ListBlobsOptions;
import com.azure.storage.blob.specialized.AppendBlobClient;
import com.azure.storage.blob.specialized.BlockBlobClient;
import com.azure.storage.common.StorageSharedKeyCredential;
import com.azure.storage.common.policy.RequestRetryOptions;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import tablerock.conformance.Account;
import tablerock.conformance.ResultWriter;

/** What every case works with: the account, a service client with its key, and a container created for the case. */
@ExtendWith(ResultWriter.class)
abstract class BlobCase {
    static final Account ACCOUNT = Account.fromEnvironment();
    static final BlobServiceClient SERVICE = serviceBuilder().credential(credential()).buildClient();

    private final List<String> containers = new ArrayList<>();
    BlobContainerClient container;

    @BeforeEach
    void createContainer() {
        container = SERVICE.getBlobContainerClient(newContainer());
    }

    @AfterEach
    void deleteContainers() {
        containers.forEach(name -> SERVICE.getBlobContainerClient(name).deleteIfExists());
    }

    static StorageSharedKeyCredential credential() {
        return new StorageSharedKeyCredential(ACCOUNT.name(), ACCOUNT.key());
    }

    /** A builder whose clients do not retry: each case wants the first answer. */
    static BlobServiceClientBuilder serviceBuilder() {
        RetryOptions once = new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1)));
        return new BlobServiceClientBuilder().endpoint(ACCOUNT.endpoint("Blob"))
            .retryOptions(RequestRetryOptions.fromRetryOptions(once, null, null));
    }

    static String newContainerName() {
        return "java-" + UUID.randomUUID();
    }

    /** A container that goes away with the case; the case may delete it itself. */
    String newContainer() {
        String name = deleteAfterwards(newContainerName());
        SERVICE.createBlobContainer(name);
        return name;
    }

    String deleteAfterwards(String name) {
        containers.add(name);
        return name;
    }

    BlobClient blob(String name) {
        return container.getBlobClient(name);
    }

    BlockBlobClient block(String name) {
        return blob(name).getBlockBlobClient();
    }

    /** Writes a block blob in one request and returns its etag. */
    String put(String name, String text) {
        return block(name).upload(BinaryData.fromString(text), true).getETag();
    }

    void putAll(String... names) {
        for (String name : names) {
            put(name, name);
        }
    }

    String text(String name) {
        return blob(name).downloadContent().toString();
    }

    BlobProperties properties(String name) {
        return blob(name).getProperties();
    }

    AppendBlobClient createAppendBlob(String name) {
        AppendBlobClient log = blob(name).getAppendBlobClient();
        log.create();
        return log;
    }

    static void append(AppendBlobClient log, String text) {
        log.appendBlock(BinaryData.fromString(text).toStream(), text.getBytes(StandardCharsets.UTF_8).length);
    }

    /** Puts a block under a number. */
    void stage(String name, int number, String text) {
        block(name).stageBlock(blockId(number), BinaryData.fromString(text));
    }

    static String blockId(int number) {
        return Base64.getEncoder().encodeToString("block-%05d".formatted(number).getBytes(StandardCharsets.UTF_8));
    }

    List<BlobItem> list(ListBlobsOptions options) {
        return container.listBlobs(options, null).stream().toList();
    }

    List<String> names() {
        return list(new ListBlobsOptions()).stream().map(BlobItem::getName).toList();
    }

    static byte[] md5(String text) {
        try {
            return MessageDigest.getInstance("MD5").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing);
        }
    }

    /** All content headers that a blob has but its digest. */
    static BlobHttpHeaders everyHeader() {
        return new BlobHttpHeaders().setContentType("text/plain; charset=utf-8").setContentEncoding("identity")
            .setContentLanguage("de").setContentDisposition("attachment; filename=\"a b.txt\"")
            .setCacheControl("max-age=60");
    }

    /** Names without regard to case, because HTTP stacks are free to change it. */
    static Map<String, String> anyCase(Map<String, String> metadata) {
        Map<String, String> found = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        found.putAll(metadata);
        return found;
    }
}
