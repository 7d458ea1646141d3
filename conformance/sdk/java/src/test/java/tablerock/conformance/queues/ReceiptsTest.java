package tablerock.conformance.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static tablerock.conformance.Refusals.assertRefused;

import com.azure.core.util.Context;
import com.azure.storage.queue.models.QueueMessageItem;
import com.azure.storage.queue.models.SendMessageResult;
import com.azure.storage.queue.models.UpdateMessageResult;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tablerock.conformance.Operation;

/** Updates and deletions of messages, and the receipts that they need. */
class ReceiptsTest extends QueueCase {
    @Test
    @Operation("UpdateMessage")
    void updateReplacesTheText() {
        queue.sendMessage("before");
        QueueMessageItem received = receiveOne(60);
        queue.updateMessage(received.getMessageId(), received.getPopReceipt(), "after & <more>", Duration.ZERO);
        QueueMessageItem again = receiveOne(60);
        assertEquals("after & <more>", again.getBody().toString());
        assertEquals(2, again.getDequeueCount());
        assertEquals(received.getInsertionTime(), again.getInsertionTime());
        assertEquals(received.getExpirationTime(), again.getExpirationTime());
    }

    @Test
    @Operation("UpdateMessage")
    void updateWithoutATextKeepsIt() {
        queue.sendMessage("kept");
        QueueMessageItem received = receiveOne(60);
        queue.updateMessage(received.getMessageId(), received.getPopReceipt(), null, Duration.ZERO);
        assertEquals(List.of("kept"), texts());
    }

    @Test
    @Operation("UpdateMessage")
    void updateTellsTheNewReceiptAndTime() {
        queue.sendMessage("text");
        QueueMessageItem received = receiveOne(60);
        UpdateMessageResult updated = queue.updateMessageWithResponse(received.getMessageId(),
            received.getPopReceipt(), "text", Duration.ofSeconds(120), null, Context.NONE).getValue();
        assertNotEquals(received.getPopReceipt(), updated.getPopReceipt());
        Duration hidden = Duration.between(OffsetDateTime.now(), updated.getTimeNextVisible());
        assertTrue(hidden.toSeconds() > 110 && hidden.toSeconds() <= 121, hidden::toString);
        queue.deleteMessage(received.getMessageId(), updated.getPopReceipt());
        assertEquals(0, count());
    }

    @Test
    @Operation("UpdateMessage")
    void updateRefusesMoreThanAWeek() {
        SendMessageResult sent = send("text", null, -1);
        assertRefused(400, "OutOfRangeQueryParameterValue", () -> queue.updateMessage(sent.getMessageId(),
            sent.getPopReceipt(), "text", Duration.ofSeconds(604801)));
    }

    @Test
    @Operation("DeleteMessage")
    void deleteRemovesTheMessage() {
        queue.sendMessage("text");
        QueueMessageItem received = receiveOne(60);
        assertEquals(204, queue.deleteMessageWithResponse(received.getMessageId(), received.getPopReceipt(), null,
            Context.NONE).getStatusCode());
        assertEquals(0, count());
    }

    @Test
    @Operation("DeleteMessage")
    void receiptOfASendDeletesAtOnce() {
        SendMessageResult sent = queue.sendMessage("text");
        queue.deleteMessage(sent.getMessageId(), sent.getPopReceipt());
        assertEquals(0, count());
    }

    @Test
    @Operation("DeleteMessage")
    void receiptOutlivesItsTimeout() throws InterruptedException {
        queue.sendMessage("text");
        QueueMessageItem received = receiveOne(1);
        Thread.sleep(2000);
        assertEquals(List.of("text"), texts());
        queue.deleteMessage(received.getMessageId(), received.getPopReceipt());
        assertEquals(0, count());
    }

    /** What ends a receipt. */
    enum End {
        AFTER_A_GET {
            void of(ReceiptsTest test, SendMessageResult sent) {
                test.receiveOne(60);
            }
        },
        AFTER_AN_UPDATE {
            void of(ReceiptsTest test, SendMessageResult sent) {
                test.queue.updateMessage(sent.getMessageId(), sent.getPopReceipt(), "text", Duration.ZERO);
            }
        },
        AFTER_A_DELETION {
            void of(ReceiptsTest test, SendMessageResult sent) {
                test.queue.deleteMessage(sent.getMessageId(), sent.getPopReceipt());
            }
        };

        abstract void of(ReceiptsTest test, SendMessageResult sent);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("DeleteMessage")
    @EnumSource
    void staleReceiptDoesNotDelete(End end) {
        SendMessageResult sent = queue.sendMessage("text");
        end.of(this, sent);
        assertRefused(404, "MessageNotFound", () -> queue.deleteMessage(sent.getMessageId(), sent.getPopReceipt()));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("UpdateMessage")
    @EnumSource
    void staleReceiptDoesNotUpdate(End end) {
        SendMessageResult sent = queue.sendMessage("text");
        end.of(this, sent);
        assertRefused(404, "MessageNotFound",
            () -> queue.updateMessage(sent.getMessageId(), sent.getPopReceipt(), "other", Duration.ZERO));
    }

    @Test
    @Operation("ClearMessages")
    void clearRemovesEveryMessage() {
        sendMany(40);
        receiveOne(60);
        assertEquals(204, queue.clearMessagesWithResponse(null, Context.NONE).getStatusCode());
        assertEquals(0, count());
        queue.sendMessage("fresh");
        assertEquals(List.of("fresh"), texts());
    }
}
