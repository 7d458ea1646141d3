package tablerock.conformance;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;

/** Where the three services are, as the environment says. It knows no SDK. */
public record Account(String connection, String name, String key, Map<String, String> settings) {
    private static final String DEVELOPMENT_CONNECTION = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
        + "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
        + "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
        + "QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"
        + "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;";

    public static Account fromEnvironment() {
        String connection = System.getenv("CONFORMANCE_CONNECTION_STRING");
        if (connection == null || connection.isEmpty() || connection.startsWith("UseDevelopmentStorage=true")) {
            connection = DEVELOPMENT_CONNECTION;
        }
        Map<String, String> settings = new HashMap<>();
        for (String setting : connection.split(";")) {
            int equals = setting.indexOf('=');
            if (equals > 0) {
                settings.put(setting.substring(0, equals), setting.substring(equals + 1));
            }
        }
        return new Account(connection, settings.get("AccountName"), settings.get("AccountKey"), Map.copyOf(settings));
    }

    /** The address of one service, "Blob", "Queue" or "Table", without a slash at its end. */
    public String endpoint(String service) {
        String endpoint = settings.get(service + "Endpoint");
        if (endpoint == null) {
            endpoint = settings.getOrDefault("DefaultEndpointsProtocol", "https") + "://" + name + "."
                + service.toLowerCase(Locale.ROOT) + "." + settings.getOrDefault("EndpointSuffix", "core.windows.net");
        }
        return endpoint.replaceAll("/$", "");
    }

    /** The endpoint of a service's read-only copy: the account's name gains a suffix, in the path or in the host. */
    public String secondary(String service) {
        return endpoint(service).replaceFirst(name, name + "-secondary");
    }

    public boolean isReachedOverHttps() {
        return endpoint("Table").startsWith("https:");
    }

    /**
     * How long a change of policies or properties may take to be in force. A real account needs up to half a minute;
     * a server on this machine has no excuse.
     */
    public Duration settleTime() {
        String host = URI.create(endpoint("Table")).getHost();
        return host.equals("localhost") || host.startsWith("127.") ? Duration.ZERO : Duration.ofSeconds(40);
    }

    /** Repeats an attempt for as long as the service may need to apply a setting. */
    public void eventually(Callable<Boolean> attempt) throws Exception {
        Instant deadline = Instant.now().plus(settleTime());
        while (!attempt.call()) {
            if (Instant.now().isAfter(deadline)) {
                throw new AssertionError("the setting did not take effect");
            }
            Thread.sleep(1000);
        }
    }
}
