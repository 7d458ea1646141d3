package tablerock.conformance.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.Refusals.assertRefused;

import com.azure.core.util.BinaryData;
import com.azure.storage.queue.QueueClient;
import com.azure.storage.queue.QueueMessageEncoding;
import com.azure.storage.queue.models.PeekedMessageItem;
import com.azure.storage.queue.models.QueueMessageItem;
import com.azure.storage.queue.models.SendMessageResult;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

/** Messages: sent, received, peeked at. */
class MessagesTest extends QueueCase {
    private static final OffsetDateTime NEVER = OffsetDateTime.parse("9999-12-31T23:59:59Z");

    @Test
    @Operation("PutMessage")
    void sendTellsAllButTheText() {
        SendMessageResult sent = queue.sendMessage("text");
        assertEquals(sent.getMessageId(), UUID.fromString(sent.getMessageId()).toString());
        assertTrue(Base64.getDecoder().decode(sent.getPopReceipt()).length > 0);
        assertEquals(sent.getInsertionTime().plusDays(7), sent.getExpirationTime());
        assertEquals(sent.getInsertionTime(), sent.getTimeNextVisible());
    }

    static Stream<Arguments> exactTexts() {
        return Stream.of(
            arguments("markup", "<a b=\"c\">&amp;</a>"),
            arguments("escaped twice", "&amp;lt;x"),
            arguments("white space", "  \ttab and\nline  "),
            arguments("beyond ascii", "Grüße, 世界 🌍"),
            arguments("base64", "aGVsbG8="),
            arguments("cdata", "<![CDATA[ x ]]>"),
            arguments("of 64 kib", "x".repeat(64 * 1024)));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("PutMessage")
    @MethodSource("exactTexts")
    void messageKeepsItsText(String description, String text) {
        queue.sendMessage(text);
        assertEquals(List.of(text), texts());
        assertEquals(text, receiveOne(30).getBody().toString());
    }

    @Test
    @Operation("PutMessage")
    void messageMayBeEmpty() {
        queue.sendMessage("");
        BinaryData body = receiveOne(30).getBody();
        assertTrue(body == null || body.toString().isEmpty());
    }

    @Test
    @Operation("PutMessage")
    void messageMayBeEncodedInBase64() {
        QueueClient encoding = queueBuilder(queue.getQueueName()).credential(credential())
            .messageEncoding(QueueMessageEncoding.BASE64).buildClient();
        encoding.sendMessage(BinaryData.fromBytes(new byte[] {0, 1, 2, (byte) 255}));
        assertEquals(List.of("AAEC/w=="), texts());
        assertEquals(4, encoding.receiveMessage().getBody().toBytes().length);
    }

    @Test
    @Operation("PutMessage")
    void textOver64KibIsRefused() {
        assertRefused(413, "RequestBodyTooLarge", () -> queue.sendMessage("x".repeat(64 * 1024 + 1)));
    }

    static Stream<Arguments> lives() {
        return Stream.of(arguments("of an hour", 3600, Duration.ofHours(1)),
            arguments("of two weeks", 1209600, Duration.ofDays(14)), arguments("without end", -1, null));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("PutMessage")
    @MethodSource("lives")
    void timeToLive(String description, int seconds, Duration life) {
        SendMessageResult sent = send("text", null, seconds);
        assertEquals(life == null ? NEVER : sent.getInsertionTime().plus(life), sent.getExpirationTime());
    }

    static Stream<Arguments> badSends() {
        return Stream.of(
            arguments("no time to live", null, 0, "InvalidQueryParameterValue"),
            arguments("a negative visibility timeout", -1, null, "OutOfRangeQueryParameterValue"),
            arguments("more than a week of invisibility", 604801, -1, "OutOfRangeQueryParameterValue"),
            arguments("to be invisible for the whole life", 60, 60, "InvalidQueryParameterValue"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("PutMessage")
    @MethodSource("badSends")
    void sendRefuses(String description, Integer visibility, Integer timeToLive, String code) {
        assertRefused(400, code, () -> send("text", visibility, timeToLive));
    }

    @Test
    @Operation("PutMessage")
    void messageMayBeginInvisible() throws InterruptedException {
        SendMessageResult sent = send("later", 2, null);
        assertEquals(sent.getInsertionTime().plusSeconds(2), sent.getTimeNextVisible());
        assertEquals(List.of(), texts());
        Thread.sleep(3000);
        assertEquals(List.of("later"), texts());
    }

    @Test
    @Operation("PutMessage")
    void messageExpires() throws InterruptedException {
        send("short", null, 1);
        Thread.sleep(3000);
        assertEquals(List.of(), texts());
        assertNull(queue.receiveMessage());
    }

    @Test
    @Operation("GetMessages")
    void receiveTellsAll() {
        SendMessageResult sent = queue.sendMessage("text");
        QueueMessageItem received = receiveOne(60);
        assertEquals(sent.getMessageId(), received.getMessageId());
        assertEquals(sent.getInsertionTime(), received.getInsertionTime());
        assertEquals(sent.getExpirationTime(), received.getExpirationTime());
        assertEquals(1, received.getDequeueCount());
        assertNotEquals(sent.getPopReceipt(), received.getPopReceipt());
        Duration hidden = Duration.between(OffsetDateTime.now(), received.getTimeNextVisible());
        assertTrue(hidden.toSeconds() > 50 && hidden.toSeconds() <= 61, hidden::toString);
    }

    @Test
    @Operation("GetMessages")
    void receiveTakesTheOldestFirst() {
        List<String> texts = sendMany(10);
        assertEquals(texts.subList(0, 4), texts(receive(4, 60)));
        assertEquals(texts.subList(4, 10), texts(receive(32, 60)));
        assertEquals(List.of(), texts(receive(32, 60)));
    }

    @Test
    @Operation("GetMessages")
    void receiveFromAnEmptyQueueIsNothing() {
        assertNull(queue.receiveMessage());
    }

    static Stream<Arguments> badReceives() {
        return Stream.of(arguments("33 messages", 33, null), arguments("no visibility timeout", 1, 0),
            arguments("more than a week", 1, 604801));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("GetMessages")
    @MethodSource("badReceives")
    void receiveRefuses(String description, Integer count, Integer visibility) {
        assertRefused(400, "OutOfRangeQueryParameterValue", () -> receive(count, visibility));
    }

    @Test
    @Operation("GetMessages")
    void messageComesBackAfterItsTimeout() throws InterruptedException {
        queue.sendMessage("text");
        QueueMessageItem first = receiveOne(1);
        Thread.sleep(2000);
        QueueMessageItem second = receiveOne(60);
        assertEquals(first.getMessageId(), second.getMessageId());
        assertEquals(2, second.getDequeueCount());
    }

    @Test
    @Operation("GetMessages")
    void noMessageGoesToTwoConsumers() {
        List<String> sent = sendMany(40);
        ConcurrentLinkedQueue<String> taken = new ConcurrentLinkedQueue<>();
        IntStream.range(0, 8).parallel().forEach(consumer -> {
            for (int i = 0; i < sent.size(); i++) {
                List<QueueMessageItem> messages = receive(3, 600);
                taken.addAll(texts(messages));
                if (messages.isEmpty()) {
                    return;
                }
            }
        });
        assertEquals(sent.stream().sorted().toList(), taken.stream().sorted().toList());
    }

    @Test
    @Operation("PeekMessages")
    void peekChangesNothing() {
        List<String> sent = sendMany(3);
        assertEquals(sent, texts());
        assertEquals(sent, texts());
        PeekedMessageItem peeked = queue.peekMessage();
        assertEquals(0, peeked.getDequeueCount());
        assertEquals(List.of("0"), peek(null).stream().map(message -> message.getBody().toString()).toList());
    }

    @Test
    @Operation("PeekMessages")
    void peekShowsOnlyVisibleMessages() {
        sendMany(3);
        receiveOne(60);
        assertEquals(List.of("1", "2"), texts());
    }

    @Test
    @Operation("PeekMessages")
    void peekRefuses33Messages() {
        assertRefused(400, "OutOfRangeQueryParameterValue", () -> peek(33));
    }
}
