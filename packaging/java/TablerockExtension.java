import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Azure Table, Queue and Blob Storage for tests with JUnit 5, by Tablerock. It is one file to copy into a project. The binary
 * tablerock is found by TABLEROCK_BINARY or in the PATH.
 *
 * <pre>
 * &#64;ExtendWith(TablerockExtension.class)
 * class PeopleTest {
 *     &#64;Test
 *     void people(TablerockExtension.Account account) {
 *         new TableServiceClientBuilder().connectionString(account.connectionString()).buildClient();
 *     }
 * }
 * </pre>
 *
 * One server in memory serves the whole run, and each parameter is a fresh account.
 */
public final class TablerockExtension implements ParameterResolver {
    private static final Duration START_TIME = Duration.ofMinutes(1);
    private static final long STOP_SECONDS = 40;
    private static final long POLL_MILLIS = 5;

    /** An account of the server, with the endpoints of its services. */
    public record Account(String name, String key, String blobEndpoint, String queueEndpoint, String tableEndpoint) {
        /** Returns the connection string for every SDK. */
        public String connectionString() {
            return String.format(
                    "DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=%s;QueueEndpoint=%s;TableEndpoint=%s;",
                    name, key, blobEndpoint, queueEndpoint, tableEndpoint);
        }
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Account.class || type == Server.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        var store = context.getRoot().getStore(ExtensionContext.Namespace.create(TablerockExtension.class));
        Server server = store.getOrComputeIfAbsent(Server.class, key -> Server.start(), Server.class);
        return parameter.getParameter().getType() == Server.class ? server : server.account();
    }

    /** A server as a process, on free ports and with data in memory. JUnit closes the one of the extension after the last test. */
    // Versions of JUnit before 5.13 close nothing but a CloseableResource.
    @SuppressWarnings("deprecation")
    public static final class Server implements AutoCloseable, ExtensionContext.Store.CloseableResource {
        private final Process process;
        private final Path folder;
        private final String addresses;

        private Server(Process process, Path folder, String addresses) {
            this.process = process;
            this.folder = folder;
            this.addresses = addresses;
        }

        /** Starts a server. Arguments are further flags of tablerock serve. */
        public static Server start(String... arguments) {
            try {
                Path folder = Files.createTempDirectory("tablerock-");
                Path adminFile = folder.resolve("admin.json");
                Path log = folder.resolve("server.log");
                String chosen = System.getenv("TABLEROCK_BINARY");
                List<String> command = new ArrayList<>(List.of(
                        chosen == null ? "tablerock" : chosen, "serve", "--in-memory", "--blob-port=0", "--queue-port=0",
                        "--table-port=0", "--admin-file", adminFile.toString()));
                command.addAll(Arrays.asList(arguments));
                ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
                // Settings of the machine do not reach the tests.
                builder.environment().keySet().removeIf(name -> name.startsWith("TABLEROCK_") || name.startsWith("AZURITE_"));
                Process process = builder.start();
                Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
                Instant end = Instant.now().plus(START_TIME);
                while (!Files.exists(adminFile)) {
                    if (!process.isAlive() || Instant.now().isAfter(end)) {
                        process.destroyForcibly();
                        throw new IllegalStateException("tablerock is not ready; it printed:\n" + Files.readString(log));
                    }
                    Thread.sleep(POLL_MILLIS);
                }
                return new Server(process, folder, Files.readString(adminFile));
            } catch (IOException error) {
                throw new IllegalStateException("cannot start tablerock: install it, or set TABLEROCK_BINARY", error);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(error);
            }
        }

        /** Adds an account with a new name and a new key. */
        public Account account() {
            return add("");
        }

        /** Adds an account with this name. */
        public Account account(String name) {
            return add("?name=" + URLEncoder.encode(name, StandardCharsets.UTF_8));
        }

        private Account add(String query) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://" + field(addresses, "admin") + "/accounts" + query))
                    .header("Authorization", "Bearer " + field(addresses, "token"))
                    .timeout(Duration.ofSeconds(10))
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .build();
            try {
                HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
                HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
                if (response.statusCode() != 201) {
                    throw new IllegalArgumentException(response.body().strip());
                }
                String name = field(response.body(), "name");
                return new Account(name, field(response.body(), "key"), field(addresses, "blob") + "/" + name,
                        field(addresses, "queue") + "/" + name, field(addresses, "table") + "/" + name);
            } catch (IOException error) {
                throw new IllegalStateException(error);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(error);
            }
        }

        @Override
        public void close() {
            process.destroy();
            try (Stream<Path> files = Files.walk(folder)) {
                if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                }
                files.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
            } catch (IOException error) {
                // The folder of temporary files is emptied by the system.
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }

        /** Returns a text of a JSON object. None of ours has escapes. */
        private static String field(String json, String name) {
            Matcher matcher = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json);
            if (!matcher.find()) {
                throw new IllegalStateException("tablerock returned no " + name);
            }
            return matcher.group(1);
        }
    }
}
