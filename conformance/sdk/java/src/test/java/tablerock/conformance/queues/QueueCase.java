package tablerock.conformance.queues;

import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.core.util.Context;
import com.azure.storage.common.StorageSharedKeyCredential;
import com.azure.storage.common.policy.RequestRetryOptions;
import com.azure.storage.queue.QueueClient;
import com.azure.storage.queue.QueueClientBuilder;
import com.azure.storage.queue.QueueServiceClient;
import com.azure.storage.queue.QueueServiceClientBuilder;
import com.azure.storage.queue.models.PeekedMessageItem;
import com.azure.storage.queue.models.QueueMessageItem;
import com.azure.storage.queue.models.SendMessageResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import tablerock.conformance.Account;
import tablerock.conformance.ResultWriter;

/** What every case works with: the account, a service client with its key, and a queue created for the case. */
@ExtendWith(ResultWriter.class)
abstract class QueueCase {
    static final Account ACCOUNT = Account.fromEnvironment();
    static final QueueServiceClient SERVICE = serviceBuilder().credential(credential()).buildClient();

    private final List<String> queues = new ArrayList<>();
    QueueClient queue;

    @BeforeEach
    void createQueue() {
        queue = SERVICE.getQueueClient(newQueue());
    }

    @AfterEach
    void deleteQueues() {
        queues.forEach(name -> SERVICE.getQueueClient(name).deleteIfExists());
    }

    static StorageSharedKeyCredential credential() {
        return new StorageSharedKeyCredential(ACCOUNT.name(), ACCOUNT.key());
    }

    /** A builder whose clients do not retry: each case wants the first answer. */
    static QueueServiceClientBuilder serviceBuilder() {
        return new QueueServiceClientBuilder().endpoint(ACCOUNT.endpoint("Queue")).retryOptions(impatient());
    }

    static QueueClientBuilder queueBuilder(String name) {
        return new QueueClientBuilder().endpoint(ACCOUNT.endpoint("Queue")).queueName(name).retryOptions(impatient());
    }

    static RequestRetryOptions impatient() {
        return RequestRetryOptions.fromRetryOptions(
            new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1))), null, null);
    }

    static String newQueueName() {
        return "java-" + UUID.randomUUID();
    }

    /** A queue that goes away with the case; the case may delete it itself. */
    String newQueue() {
        String name = deleteAfterwards(newQueueName());
        SERVICE.createQueue(name);
        return name;
    }

    String deleteAfterwards(String name) {
        queues.add(name);
        return name;
    }

    static QueueClient missingQueue() {
        return SERVICE.getQueueClient(newQueueName());
    }

    /** Sends with a visibility timeout and a time to live in seconds; null leaves either out. */
    SendMessageResult send(String text, Integer visibility, Integer timeToLive) {
        return queue.sendMessageWithResponse(text, seconds(visibility), seconds(timeToLive), null, Context.NONE)
            .getValue();
    }

    static Duration seconds(Integer count) {
        return count == null ? null : Duration.ofSeconds(count);
    }

    List<QueueMessageItem> receive(Integer count, Integer visibility) {
        return queue.receiveMessages(count, seconds(visibility), null, Context.NONE).stream().toList();
    }

    QueueMessageItem receiveOne(Integer visibility) {
        return receive(1, visibility).get(0);
    }

    List<PeekedMessageItem> peek(Integer count) {
        return queue.peekMessages(count, null, Context.NONE).stream().toList();
    }

    /** The messages that a peek shows. */
    List<String> texts() {
        return peek(32).stream().map(message -> message.getBody().toString()).toList();
    }

    static List<String> texts(List<QueueMessageItem> messages) {
        return messages.stream().map(message -> message.getBody().toString()).toList();
    }

    long count() {
        return queue.getProperties().getApproximateMessagesCountLong();
    }

    /** Numbered messages. */
    List<String> sendMany(int count) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            texts.add(String.valueOf(i));
            queue.sendMessage(texts.get(i));
        }
        return texts;
    }
}
