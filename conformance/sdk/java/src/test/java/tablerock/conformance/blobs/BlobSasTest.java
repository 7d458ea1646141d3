package tablerock.conformance.blobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.Refusals.assertRefused;
import static tablerock.conformance.Refusals.assertRefusedWith;

import com.azure.core.util.BinaryData;
import com.azure.storage.blob.BlobContainerClient;
import com.azure.storage.blob.BlobServiceClient;
import com.azure.storage.blob.models.BlobAccessPolicy;
import com.azure.storage.blob.models.BlobProperties;
import com.azure.storage.blob.models.BlobSignedIdentifier;
import com.azure.storage.blob.sas.BlobContainerSasPermission;
import com.azure.storage.blob.sas.BlobSasPermission;
import com.azure.storage.blob.sas.BlobServiceSasSignatureValues;
import com.azure.storage.blob.specialized.BlobClientBase;
import com.azure.storage.common.StorageSharedKeyCredential;
import com.azure.storage.common.sas.AccountSasPermission;
import com.azure.storage.common.sas.AccountSasResourceType;
import com.azure.storage.common.sas.AccountSasService;
import com.azure.storage.common.sas.AccountSasSignatureValues;
import com.azure.storage.common.sas.SasIpRange;
import com.azure.storage.common.sas.SasProtocol;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

/** Signatures for a container, a blob, a snapshot and the account. */
class BlobSasTest extends BlobCase {
    /** The values of a container's token that is good for an hour. */
    private static BlobServiceSasSignatureValues token(String permissions) {
        return new BlobServiceSasSignatureValues(OffsetDateTime.now().plusHours(1),
            BlobContainerSasPermission.parse(permissions));
    }

    private BlobContainerClient open(BlobServiceSasSignatureValues token) {
        return open(container.generateSas(token));
    }

    private BlobContainerClient open(String token) {
        return serviceBuilder().sasToken(token).buildClient().getBlobContainerClient(container.getBlobContainerName());
    }

    /** What a holder of a container's token may try, and the letter it needs. */
    enum Attempt {
        GET("r") {
            void on(BlobContainerClient container) {
                container.getBlobClient("b").downloadContent();
            }
        },
        PROPERTIES("r") {
            void on(BlobContainerClient container) {
                container.getBlobClient("b").getProperties();
            }
        },
        CREATE("c") {
            void on(BlobContainerClient container) {
                container.getBlobClient("new").getBlockBlobClient().upload(BinaryData.fromString("x"), true);
            }
        },
        OVERWRITE("w") {
            void on(BlobContainerClient container) {
                container.getBlobClient("b").getBlockBlobClient().upload(BinaryData.fromString("x"), true);
            }
        },
        PUT_BLOCK("w") {
            void on(BlobContainerClient container) {
                container.getBlobClient("b").getBlockBlobClient().stageBlock(blockId(1), BinaryData.fromString("x"));
            }
        },
        APPEND("a") {
            void on(BlobContainerClient container) {
                append(container.getBlobClient("log").getAppendBlobClient(), "x");
            }
        },
        SET_METADATA("w") {
            void on(BlobContainerClient container) {
                container.getBlobClient("b").setMetadata(Map.of("a", "b"));
            }
        },
        DELETE("d") {
            void on(BlobContainerClient container) {
                container.getBlobClient("b").delete();
            }
        },
        LIST("l") {
            void on(BlobContainerClient container) {
                container.listBlobs().stream().toList();
            }
        };

        final String permission;

        Attempt(String permission) {
            this.permission = permission;
        }

        abstract void on(BlobContainerClient container);
    }

    private void fill() {
        put("b", "text");
        createAppendBlob("log");
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void containerSasPermits(Attempt attempt) {
        fill();
        attempt.on(open(token(attempt.permission)));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void containerSasWithoutPermissionRefuses(Attempt attempt) {
        fill();
        String others = "racwdl".replace(attempt.permission, "");
        boolean writeStandsForIt = attempt.permission.equals("c") || attempt.permission.equals("a");
        BlobContainerClient limited = open(token(writeStandsForIt ? others.replace("w", "") : others));
        assertRefusedWith(() -> attempt.on(limited), 403);
    }

    static Stream<Arguments> refused() {
        OffsetDateTime now = OffsetDateTime.now();
        return Stream.of(
            arguments("expired", token("l").setExpiryTime(now.minusHours(1)), "AuthenticationFailed"),
            arguments("not yet valid", token("l").setStartTime(now.plusMinutes(30)), "AuthenticationFailed"),
            arguments("naming an unknown policy", new BlobServiceSasSignatureValues("unknown"),
                "AuthenticationFailed"),
            arguments("for another address", token("l").setSasIpRange(SasIpRange.parse("203.0.113.7")),
                "AuthorizationSourceIPMismatch"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @MethodSource("refused")
    void containerSasIsRefusedWhen(String description, BlobServiceSasSignatureValues token, String code) {
        BlobContainerClient limited = open(token);
        assertRefused(403, code, () -> limited.listBlobs().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void containerSasForHttpsIsRefusedOverHttp() {
        assumeFalse(ACCOUNT.isReachedOverHttps(), "the account is reached over https");
        BlobContainerClient limited = open(token("l").setProtocol(SasProtocol.HTTPS_ONLY));
        assertRefused(403, "AuthorizationProtocolMismatch", () -> limited.listBlobs().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void containerSasNeverDeletesTheContainer() {
        BlobContainerClient limited = open(token("racwdl"));
        assertRefusedWith(limited::delete, 403);
        assertRefusedWith(limited::getProperties, 403);
    }

    private static BlobServiceSasSignatureValues readToken() {
        return new BlobServiceSasSignatureValues(OffsetDateTime.now().plusHours(1),
            new BlobSasPermission().setReadPermission(true));
    }

    @Test
    @Operation("Authentication")
    void blobSasOpensItsBlobOnly() {
        putAll("a b/ü+", "other");
        BlobContainerClient limited = open(blob("a b/ü+").generateSas(readToken()));
        assertEquals("a b/ü+", limited.getBlobClient("a b/ü+").downloadContent().toString());
        assertRefused(403, "AuthenticationFailed", () -> limited.getBlobClient("other").downloadContent());
    }

    @Test
    @Operation("Authentication")
    void snapshotSasOpensOneSnapshot() {
        put("b", "old");
        BlobClientBase snapshot = blob("b").createSnapshot();
        put("b", "new");
        BlobContainerClient limited = open(snapshot.generateSas(readToken()));
        assertEquals("old", limited.getBlobClient("b").getSnapshotClient(snapshot.getSnapshotId()).downloadContent()
            .toString());
        assertRefusedWith(() -> limited.getBlobClient("b").downloadContent(), 403);
    }

    @Test
    @Operation("Authentication")
    void sasReplacesContentHeaders() {
        put("b", "text");
        BlobProperties answer = open(blob("b").generateSas(readToken().setCacheControl("no-store")
            .setContentDisposition("inline").setContentLanguage("fr").setContentType("text/markdown")))
            .getBlobClient("b").getProperties();
        assertEquals(List.of("no-store", "inline", "fr", "text/markdown"), List.of(answer.getCacheControl(),
            answer.getContentDisposition(), answer.getContentLanguage(), answer.getContentType()));
    }

    @Test
    @Operation("Authentication")
    void containerPolicyGivesItsPermissions() throws Exception {
        put("b", "text");
        OffsetDateTime now = OffsetDateTime.now();
        container.setAccessPolicy(null, List.of(new BlobSignedIdentifier().setId("reader").setAccessPolicy(
            new BlobAccessPolicy().setStartsOn(now.minusHours(1)).setExpiresOn(now.plusHours(1))
                .setPermissions("r"))));
        BlobContainerClient limited = open(new BlobServiceSasSignatureValues("reader"));
        Thread.sleep(ACCOUNT.settleTime().toMillis());
        assertEquals("text", limited.getBlobClient("b").downloadContent().toString());
        assertRefused(403, "AuthorizationPermissionMismatch", () -> limited.getBlobClient("b").delete());
        container.setAccessPolicy(null, null);
        Thread.sleep(ACCOUNT.settleTime().toMillis());
        assertRefused(403, "AuthenticationFailed", () -> limited.getBlobClient("b").downloadContent());
    }

    private static BlobServiceClient account(String services, String resources, String permissions) {
        String token = SERVICE.generateAccountSas(new AccountSasSignatureValues(OffsetDateTime.now().plusHours(1),
            AccountSasPermission.parse(permissions), AccountSasService.parse(services),
            AccountSasResourceType.parse(resources)));
        return serviceBuilder().sasToken(token).buildClient();
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void accountSasPermitsOnBlobs(Attempt attempt) {
        fill();
        String resource = attempt == Attempt.LIST ? "c" : "o";
        attempt.on(account("b", resource, attempt.permission)
            .getBlobContainerClient(container.getBlobContainerName()));
    }

    @Test
    @Operation("Authentication")
    void accountSasIsRefusedForAnotherServiceOrType() {
        assertRefused(403, "AuthorizationServiceMismatch",
            () -> account("qt", "sco", "rwdlac").listBlobContainers().stream().toList());
        assertRefused(403, "AuthorizationResourceTypeMismatch",
            () -> account("b", "co", "rwdlac").listBlobContainers().stream().toList());
        account("b", "s", "l").listBlobContainers().stream().limit(1).toList();
    }

    @Test
    @Operation("Authentication")
    void wrongKeyIsRefusedByTheBlobService() {
        BlobServiceClient stranger = serviceBuilder()
            .credential(new StorageSharedKeyCredential(ACCOUNT.name(), "d3Jvbmc=")).buildClient();
        assertRefused(403, "AuthenticationFailed", stranger::getProperties);
    }
}
