import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.models.ListEntitiesOptions;
import com.azure.data.tables.models.TableEntity;
import com.azure.data.tables.models.TableEntityUpdateMode;
import com.azure.data.tables.models.TableServiceException;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import com.azure.storage.queue.QueueClient;
import com.azure.storage.queue.QueueClientBuilder;
import com.azure.storage.queue.models.QueueMessageItem;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

/** A to-do service: tables with an index entity, and a queue worker. See ../README.md. */
public final class Todo {
    private static final String USAGE = "use: add LIST DATE TITLE | list LIST | done LIST ID | work | archive LIST";
    /** The account that every start of tablerock serves on this machine. */
    private static final String DEVELOPMENT = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
            + "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
            + "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;";
    private static final Pattern MESSAGE = Pattern.compile("\\{\"list\": ?\"(.*)\", ?\"id\": ?\"(.*)\"}");

    private final TableClient todos;
    private final TableClient archive;
    private final QueueClient queue;

    public Todo(String connectionString) {
        TableServiceClient tables = new TableServiceClientBuilder().connectionString(connectionString).buildClient();
        tables.createTableIfNotExists("Todos");
        tables.createTableIfNotExists("Archive");
        todos = tables.getTableClient("Todos");
        archive = tables.getTableClient("Archive");
        queue = new QueueClientBuilder().connectionString(connectionString).queueName("todo-done").buildClient();
        queue.createIfNotExists();
    }

    List<String> add(String list, String due, String title) {
        String id = UUID.randomUUID().toString().substring(0, 6);
        TableEntity item = new TableEntity(list, "item_" + id)
                .addProperty("Title", title).addProperty("Due", due).addProperty("Done", false);
        TableEntity index = new TableEntity(list, "due_" + due + "_" + id).addProperty("Title", title);
        todos.submitTransaction(List.of(
                new TableTransactionAction(TableTransactionActionType.CREATE, item),
                new TableTransactionAction(TableTransactionActionType.CREATE, index)));
        return List.of(id);
    }

    List<String> list(String list) {
        // The character after the underscore ends the range of rows that begin with "due_".
        return query(todos, "PartitionKey eq '" + quote(list) + "' and RowKey ge 'due_' and RowKey lt 'due`'").stream()
                .map(index -> {
                    String[] key = index.getRowKey().split("_", 3);
                    return key[1] + " " + key[2] + " " + index.getProperty("Title");
                })
                .toList();
    }

    List<String> done(String list, String id) {
        Optional<TableEntity> found = item(list, id);
        if (found.isEmpty()) {
            return List.of("no item " + id + " in " + list);
        }
        TableEntity item = found.get();
        if (!(Boolean) item.getProperty("Done")) {
            // The entity has the ETag that was read, so a change by another caller in between fails the transaction.
            item.addProperty("Done", true);
            TableEntity index = new TableEntity(list, "due_" + item.getProperty("Due") + "_" + id);
            todos.submitTransaction(List.of(
                    new TableTransactionAction(TableTransactionActionType.UPDATE_MERGE, item, true),
                    new TableTransactionAction(TableTransactionActionType.DELETE, index)));
        }
        // After the transaction: a message about an item that is not done would be lost work. A repeated one is harmless.
        queue.sendMessage("{\"list\":\"" + list + "\",\"id\":\"" + id + "\"}");
        return List.of("done " + id);
    }

    List<String> work() {
        int archived = 0;
        while (true) {
            // A worker that ends before the delete loses nothing: the message is visible again after 30 seconds.
            List<QueueMessageItem> received =
                    queue.receiveMessages(32, Duration.ofSeconds(30), null, null).stream().toList();
            if (received.isEmpty()) {
                return List.of("archived " + archived);
            }
            for (QueueMessageItem message : received) {
                Matcher job = MESSAGE.matcher(message.getBody().toString());
                // Without an item, an earlier delivery of this message archived it.
                Optional<TableEntity> item = job.matches() ? item(job.group(1), job.group(2)) : Optional.empty();
                if (item.isPresent()) {
                    TableEntity copy = new TableEntity(job.group(1), job.group(2))
                            .addProperty("Title", item.get().getProperty("Title"));
                    archive.upsertEntityWithResponse(copy, TableEntityUpdateMode.REPLACE, null, null);
                    todos.deleteEntity(item.get());
                    archived++;
                }
                queue.deleteMessage(message.getMessageId(), message.getPopReceipt());
            }
        }
    }

    List<String> archived(String list) {
        return query(archive, "PartitionKey eq '" + quote(list) + "'").stream()
                .map(item -> (String) item.getProperty("Title"))
                .toList();
    }

    private Optional<TableEntity> item(String list, String id) {
        try {
            return Optional.of(todos.getEntity(list, "item_" + id));
        } catch (TableServiceException error) {
            if (error.getResponse().getStatusCode() == 404) {
                return Optional.empty();
            }
            throw error;
        }
    }

    private static List<TableEntity> query(TableClient table, String filter) {
        var found = table.listEntities(new ListEntitiesOptions().setFilter(filter), null, null);
        return StreamSupport.stream(found.spliterator(), false).toList();
    }

    /** Doubles the quotation marks of a text in a filter. */
    private static String quote(String text) {
        return text.replace("'", "''");
    }

    /** Runs one command and returns the lines that it prints. */
    static List<String> run(String connectionString, String... arguments) {
        Todo todo = new Todo(connectionString);
        return switch (arguments.length == 0 ? "" : arguments[0] + " " + (arguments.length - 1)) {
            case "add 3" -> todo.add(arguments[1], arguments[2], arguments[3]);
            case "list 1" -> todo.list(arguments[1]);
            case "done 2" -> todo.done(arguments[1], arguments[2]);
            case "work 0" -> todo.work();
            case "archive 1" -> todo.archived(arguments[1]);
            default -> List.of(USAGE);
        };
    }

    public static void main(String[] arguments) {
        String connectionString = System.getenv().getOrDefault("AZURE_STORAGE_CONNECTION_STRING", DEVELOPMENT);
        run(connectionString, arguments).forEach(System.out::println);
    }
}
