package tablerock.conformance.queues;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.Refusals.assertRefused;

import com.azure.core.http.rest.PagedResponse;
import com.azure.core.http.rest.Response;
import com.azure.core.util.Context;
import com.azure.storage.queue.QueueClient;
import com.azure.storage.queue.models.QueueItem;
import com.azure.storage.queue.models.QueuesSegmentOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

/** Queues: made, removed, described, listed. */
class QueuesTest extends QueueCase {
    @Test
    @Operation("CreateQueue")
    void queueIsCreatedAgainWithTheSameMetadata() {
        QueueClient fresh = SERVICE.getQueueClient(deleteAfterwards(newQueueName()));
        Map<String, String> metadata = Map.of("Colour", "red");
        assertEquals(201, fresh.createWithResponse(metadata, null, Context.NONE).getStatusCode());
        assertEquals(204, fresh.createWithResponse(metadata, null, Context.NONE).getStatusCode());
    }

    @Test
    @Operation("CreateQueue")
    void queueAlreadyExistsWithOtherMetadata() {
        assertRefused(409, "QueueAlreadyExists",
            () -> queue.createWithResponse(Map.of("colour", "red"), null, Context.NONE));
    }

    @Test
    @Operation("CreateQueue")
    void createIfNotExistsTellsWhetherItDid() {
        QueueClient fresh = SERVICE.getQueueClient(deleteAfterwards(newQueueName()));
        assertTrue(fresh.createIfNotExists());
        // With the same metadata the service answers 204, which the SDK does not tell from 201.
        Response<Boolean> again = fresh.createIfNotExistsWithResponse(Map.of("a", "b"), null, Context.NONE);
        assertFalse(again.getValue());
        assertEquals(409, again.getStatusCode());
    }

    static Stream<Arguments> badNames() {
        return Stream.of(
            arguments("of two characters", "ab", "OutOfRangeInput"),
            arguments("of 64 characters", "a".repeat(64), "OutOfRangeInput"),
            arguments("with an upper case letter", "Abc", "InvalidResourceName"),
            arguments("with an underscore", "a_b", "InvalidResourceName"),
            arguments("with two dashes in a row", "a--b", "InvalidResourceName"),
            arguments("with a dash at its end", "abc-", "InvalidResourceName"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("CreateQueue")
    @MethodSource("badNames")
    void createQueueRefusesName(String description, String name, String code) {
        assertRefused(400, code, () -> SERVICE.createQueue(name));
    }

    @Test
    @Operation("DeleteQueue")
    void queueIsDeletedWithItsMessages() {
        queue.sendMessage("gone");
        assertEquals(204, queue.deleteWithResponse(null, Context.NONE).getStatusCode());
        assertRefused(404, "QueueNotFound", () -> queue.getProperties());
        assertFalse(queue.deleteIfExists());
    }

    @Test
    @Operation("DeleteQueue")
    void missingQueueIsNotFoundByDelete() {
        assertRefused(404, "QueueNotFound", () -> missingQueue().delete());
    }

    @Test
    @Operation("GetQueueMetadata")
    void missingQueueIsNotFoundByGetMetadata() {
        assertRefused(404, "QueueNotFound", () -> missingQueue().getProperties());
    }

    @Test
    @Operation("SetQueueMetadata")
    void missingQueueIsNotFoundBySetMetadata() {
        assertRefused(404, "QueueNotFound", () -> missingQueue().setMetadata(Map.of("a", "b")));
    }

    @Test
    @Operation("GetQueueACL")
    void missingQueueIsNotFoundByGetPolicies() {
        assertRefused(404, "QueueNotFound", () -> missingQueue().getAccessPolicy().stream().toList());
    }

    @Test
    @Operation("PutMessage")
    void missingQueueIsNotFoundBySend() {
        assertRefused(404, "QueueNotFound", () -> missingQueue().sendMessage("text"));
    }

    @Test
    @Operation("GetMessages")
    void missingQueueIsNotFoundByReceive() {
        assertRefused(404, "QueueNotFound", () -> missingQueue().receiveMessage());
    }

    @Test
    @Operation("PeekMessages")
    void missingQueueIsNotFoundByPeek() {
        assertRefused(404, "QueueNotFound", () -> missingQueue().peekMessage());
    }

    @Test
    @Operation("ClearMessages")
    void missingQueueIsNotFoundByClear() {
        assertRefused(404, "QueueNotFound", () -> missingQueue().clearMessages());
    }

    /** Names without regard to case, because HTTP stacks are free to change it. */
    private Map<String, String> metadata() {
        Map<String, String> found = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        found.putAll(queue.getProperties().getMetadata());
        return found;
    }

    @Test
    @Operation("SetQueueMetadata")
    void queueMetadataIsReplaced() {
        assertEquals(204, queue.setMetadataWithResponse(Map.of("one", "1", "two", "2"), null, Context.NONE)
            .getStatusCode());
        queue.setMetadata(Map.of("two", "II", "three", "a b=c;d"));
        assertEquals(Map.of("two", "II", "three", "a b=c;d"), metadata());
        queue.setMetadata(Map.of());
        assertEquals(Map.of(), metadata());
    }

    @Test
    @Operation("GetQueueMetadata")
    void approximateCountHasInvisibleMessages() {
        sendMany(3);
        receive(2, 60);
        assertEquals(3, count());
    }

    /** Queues whose names share a prefix of their own. */
    private String family(String... members) {
        String prefix = newQueueName();
        for (String member : members) {
            SERVICE.createQueueWithResponse(deleteAfterwards(prefix + member), Map.of("member", member), null,
                Context.NONE);
        }
        return prefix;
    }

    private static List<List<String>> pages(String prefix, Integer size) {
        List<List<String>> pages = new ArrayList<>();
        QueuesSegmentOptions options = new QueuesSegmentOptions().setPrefix(prefix).setMaxResultsPerPage(size);
        for (PagedResponse<QueueItem> page : SERVICE.listQueues(options, null, Context.NONE).iterableByPage()) {
            pages.add(page.getValue().stream().map(item -> item.getName().substring(prefix.length())).toList());
        }
        return pages;
    }

    @Test
    @Operation("ListQueues")
    void queuesAreListedByName() {
        String prefix = family("b", "a", "c2", "c10");
        assertEquals(List.of(List.of("a", "b", "c10", "c2")), pages(prefix, null));
    }

    @Test
    @Operation("ListQueues")
    void queuesAreListedInPages() {
        String prefix = family("1", "2", "3", "4", "5");
        assertEquals(List.of(List.of("1", "2"), List.of("3", "4"), List.of("5")), pages(prefix, 2));
    }

    @Test
    @Operation("ListQueues")
    void listingShowsMetadataOnlyWhenAsked() {
        QueuesSegmentOptions options = new QueuesSegmentOptions().setPrefix(family("x"));
        assertNull(SERVICE.listQueues(options, null, Context.NONE).stream().toList().get(0).getMetadata());
        options.setIncludeMetadata(true);
        assertEquals(Map.of("member", "x"),
            SERVICE.listQueues(options, null, Context.NONE).stream().toList().get(0).getMetadata());
    }

    @Test
    @Operation("ListQueues")
    void listingOfNoQueuesIsEmpty() {
        assertEquals(List.of(List.of()), pages(newQueueName(), null));
    }
}
