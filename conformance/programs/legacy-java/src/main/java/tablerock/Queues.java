package tablerock;

import com.microsoft.azure.storage.queue.CloudQueue;
import com.microsoft.azure.storage.queue.CloudQueueClient;
import com.microsoft.azure.storage.queue.CloudQueueMessage;
import com.microsoft.azure.storage.queue.MessageUpdateFields;
import java.util.EnumSet;

/** Messages: added, claimed, changed, deleted. */
final class Queues {
    private Queues() {}

    static void run(CloudQueueClient client) throws Exception {
        CloudQueue queue = client.getQueueReference(Job.newName());
        Job.check(queue.createIfNotExists(), "the queue is new");
        try {
            queue.addMessage(new CloudQueueMessage("first & <last>"));
            Job.check(queue.peekMessage().getMessageContentAsString().equals("first & <last>"), "the text is kept");
            CloudQueueMessage message = queue.retrieveMessage();
            message.setMessageContent("changed");
            queue.updateMessage(
                    message, 0, EnumSet.of(MessageUpdateFields.CONTENT, MessageUpdateFields.VISIBILITY), null, null);
            message = queue.retrieveMessage();
            Job.check(message.getMessageContentAsString().equals("changed"), "the text is changed");
            Job.check(message.getDequeueCount() == 2, "it was claimed twice");
            queue.deleteMessage(message);
            queue.downloadAttributes();
            Job.check(queue.getApproximateMessageCount() == 0, "the queue is empty");
        } finally {
            queue.delete();
        }
    }
}
