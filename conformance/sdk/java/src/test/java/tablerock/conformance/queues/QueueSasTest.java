package tablerock.conformance.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.Refusals.assertRefused;
import static tablerock.conformance.Refusals.assertRefusedWith;

import com.azure.storage.common.StorageSharedKeyCredential;
import com.azure.storage.common.sas.AccountSasPermission;
import com.azure.storage.common.sas.AccountSasResourceType;
import com.azure.storage.common.sas.AccountSasService;
import com.azure.storage.common.sas.AccountSasSignatureValues;
import com.azure.storage.common.sas.SasIpRange;
import com.azure.storage.common.sas.SasProtocol;
import com.azure.storage.queue.QueueClient;
import com.azure.storage.queue.QueueClientBuilder;
import com.azure.storage.queue.QueueServiceClient;
import com.azure.storage.queue.models.QueueAccessPolicy;
import com.azure.storage.queue.models.QueueMessageItem;
import com.azure.storage.queue.models.QueueSignedIdentifier;
import com.azure.storage.queue.sas.QueueSasPermission;
import com.azure.storage.queue.sas.QueueServiceSasSignatureValues;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

/** Signatures for a queue and for the account, stored access policies, and keys that do not fit. */
class QueueSasTest extends QueueCase {
    /** The values of a queue's token that is good for an hour. */
    private static QueueServiceSasSignatureValues token(String permissions) {
        return new QueueServiceSasSignatureValues(OffsetDateTime.now().plusHours(1),
            QueueSasPermission.parse(permissions));
    }

    private QueueClient open(QueueServiceSasSignatureValues token) {
        return queueBuilder(queue.getQueueName()).sasToken(queue.generateSas(token)).buildClient();
    }

    /** What a holder of a token may try, with the letter it needs and the resource type if the token is the account's. */
    enum Attempt {
        GET_METADATA("r", "c") {
            void on(QueueClient queue, QueueMessageItem held) {
                queue.getProperties();
            }
        },
        PEEK("r", "o") {
            void on(QueueClient queue, QueueMessageItem held) {
                queue.peekMessage();
            }
        },
        SEND("a", "o") {
            void on(QueueClient queue, QueueMessageItem held) {
                queue.sendMessage("text");
            }
        },
        UPDATE("u", "o") {
            void on(QueueClient queue, QueueMessageItem held) {
                queue.updateMessage(held.getMessageId(), held.getPopReceipt(), "text", Duration.ZERO);
            }
        },
        RECEIVE("p", "o") {
            void on(QueueClient queue, QueueMessageItem held) {
                queue.receiveMessage();
            }
        },
        DELETE("p", "o") {
            void on(QueueClient queue, QueueMessageItem held) {
                queue.deleteMessage(held.getMessageId(), held.getPopReceipt());
            }
        };

        final String permission;
        final String resource;

        Attempt(String permission, String resource) {
            this.permission = permission;
            this.resource = resource;
        }

        abstract void on(QueueClient queue, QueueMessageItem held);
    }

    private QueueMessageItem held() {
        queue.sendMessage("text");
        return receiveOne(60);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void queueSasPermits(Attempt attempt) {
        attempt.on(open(token(attempt.permission)), held());
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void queueSasWithoutPermissionRefuses(Attempt attempt) {
        QueueMessageItem held = held();
        QueueClient limited = open(token("raup".replace(attempt.permission, "")));
        assertRefused(403, "AuthorizationPermissionMismatch", () -> attempt.on(limited, held));
    }

    static Stream<Arguments> refused() {
        OffsetDateTime now = OffsetDateTime.now();
        return Stream.of(
            arguments("expired", token("r").setExpiryTime(now.minusHours(1)), "AuthenticationFailed"),
            arguments("not yet valid", token("r").setStartTime(now.plusMinutes(30)), "AuthenticationFailed"),
            arguments("naming an unknown policy", new QueueServiceSasSignatureValues("unknown"),
                "AuthenticationFailed"),
            arguments("for another address", token("r").setSasIpRange(SasIpRange.parse("203.0.113.7")),
                "AuthorizationSourceIPMismatch"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @MethodSource("refused")
    void queueSasIsRefusedWhen(String description, QueueServiceSasSignatureValues token, String code) {
        QueueClient limited = open(token);
        assertRefused(403, code, limited::peekMessage);
    }

    @Test
    @Operation("Authentication")
    void queueSasForHttpsIsRefusedOverHttp() {
        assumeFalse(ACCOUNT.isReachedOverHttps(), "the account is reached over https");
        QueueClient limited = open(token("r").setProtocol(SasProtocol.HTTPS_ONLY));
        assertRefused(403, "AuthorizationProtocolMismatch", limited::peekMessage);
    }

    @Test
    @Operation("Authentication")
    void queueSasIsRefusedForAnotherQueue() {
        QueueClient other = queueBuilder(newQueue()).sasToken(queue.generateSas(token("raup"))).buildClient();
        assertRefused(403, "AuthenticationFailed", other::peekMessage);
    }

    @Test
    @Operation("Authentication")
    void queueSasNeverDeletesTheQueue() {
        QueueClient limited = open(token("raup"));
        assertRefusedWith(limited::delete, 403);
        assertRefusedWith(limited::clearMessages, 403);
        assertRefusedWith(() -> limited.setMetadata(Map.of("a", "b")), 403);
    }

    private static QueueServiceClient account(String services, String resources, String permissions) {
        String token = SERVICE.generateAccountSas(new AccountSasSignatureValues(OffsetDateTime.now().plusHours(1),
            AccountSasPermission.parse(permissions), AccountSasService.parse(services),
            AccountSasResourceType.parse(resources)));
        return serviceBuilder().sasToken(token).buildClient();
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void accountSasPermitsOnQueues(Attempt attempt) {
        QueueMessageItem held = held();
        attempt.on(account("q", attempt.resource, attempt.permission).getQueueClient(queue.getQueueName()), held);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void accountSasWithoutPermissionRefusesOnQueues(Attempt attempt) {
        QueueMessageItem held = held();
        QueueClient limited = account("q", "sco", "rwdlacup".replace(attempt.permission, ""))
            .getQueueClient(queue.getQueueName());
        assertRefused(403, "AuthorizationPermissionMismatch", () -> attempt.on(limited, held));
    }

    @Test
    @Operation("Authentication")
    void accountSasForBlobsIsRefusedByTheQueueService() {
        QueueServiceClient limited = account("b", "sco", "rwdlacup");
        assertRefused(403, "AuthorizationServiceMismatch", () -> limited.listQueues().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void accountSasListsAndCreatesQueues() {
        QueueServiceClient limited = account("bqt", "sc", "lc");
        limited.createQueue(deleteAfterwards(newQueueName()));
        limited.listQueues().stream().limit(1).toList();
        QueueServiceClient other = account("q", "co", "rwdlacup");
        assertRefused(403, "AuthorizationResourceTypeMismatch", () -> other.listQueues().stream().toList());
    }

    private static QueueSignedIdentifier policy(String id, String permissions) {
        OffsetDateTime now = OffsetDateTime.now().truncatedTo(ChronoUnit.SECONDS);
        return new QueueSignedIdentifier().setId(id).setAccessPolicy(new QueueAccessPolicy()
            .setStartsOn(now.minusHours(1)).setExpiresOn(now.plusHours(1)).setPermissions(permissions));
    }

    @Test
    @Operation("SetQueueACL")
    void queuePoliciesComeBackAsSet() {
        List<QueueSignedIdentifier> set = List.of(policy("one", "r"), policy("two", "raup"));
        queue.setAccessPolicy(set);
        List<QueueSignedIdentifier> found = queue.getAccessPolicy().stream().toList();
        assertEquals(2, found.size());
        for (int i = 0; i < 2; i++) {
            QueueAccessPolicy expected = set.get(i).getAccessPolicy();
            QueueAccessPolicy actual = found.get(i).getAccessPolicy();
            assertEquals(set.get(i).getId(), found.get(i).getId());
            assertEquals(expected.getPermissions(), actual.getPermissions());
            assertEquals(expected.getStartsOn().toInstant(), actual.getStartsOn().toInstant());
            assertEquals(expected.getExpiresOn().toInstant(), actual.getExpiresOn().toInstant());
        }
        queue.setAccessPolicy(List.of());
        assertEquals(0, queue.getAccessPolicy().stream().count());
    }

    @Test
    @Operation("SetQueueACL")
    void sixQueuePoliciesAreRefused() {
        List<QueueSignedIdentifier> six = Stream.of("1", "2", "3", "4", "5", "6").map(id -> policy(id, "r")).toList();
        assertRefused(400, "InvalidXmlDocument", () -> queue.setAccessPolicy(six));
    }

    @Test
    @Operation("Authentication")
    void queuePolicyGivesItsPermissions() throws Exception {
        queue.setAccessPolicy(List.of(policy("reader", "r")));
        QueueClient limited = open(new QueueServiceSasSignatureValues("reader"));
        limited.peekMessage();
        assertRefused(403, "AuthorizationPermissionMismatch", () -> limited.sendMessage("text"));
        queue.setAccessPolicy(List.of());
        Thread.sleep(ACCOUNT.settleTime().toMillis());
        assertRefused(403, "AuthenticationFailed", limited::peekMessage);
    }

    @Test
    @Operation("Authentication")
    void wrongKeyIsRefusedByTheQueueService() {
        QueueServiceClient stranger = serviceBuilder()
            .credential(new StorageSharedKeyCredential(ACCOUNT.name(), "d3Jvbmc=")).buildClient();
        assertRefused(403, "AuthenticationFailed", stranger::getProperties);
    }

    @Test
    @Operation("Authentication")
    void connectionStringOpensTheQueueService() {
        QueueClient opened = new QueueClientBuilder().connectionString(ACCOUNT.connection())
            .queueName(queue.getQueueName()).buildClient();
        opened.sendMessage("text");
        assertEquals(List.of("text"), texts());
    }
}
