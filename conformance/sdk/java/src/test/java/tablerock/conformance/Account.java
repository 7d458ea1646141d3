package tablerock.conformance;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** Where the service is and how a case reaches it, as the environment says. */
record Account(String connection, String name, String key, String endpoint) {
    private static final String DEVELOPMENT_CONNECTION = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
        + "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
        + "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;";

    static Account fromEnvironment() {
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
        String name = settings.get("AccountName");
        String endpoint = settings.get("TableEndpoint");
        if (endpoint == null) {
            endpoint = settings.getOrDefault("DefaultEndpointsProtocol", "https") + "://" + name + ".table."
                + settings.getOrDefault("EndpointSuffix", "core.windows.net");
        }
        return new Account(connection, name, settings.get("AccountKey"), endpoint.replaceAll("/$", ""));
    }

    /** The endpoint of the read-only copy: the account's name gains a suffix, in the path or in the host. */
    String secondary() {
        return endpoint.replaceFirst(name, name + "-secondary");
    }

    AzureNamedKeyCredential credential() {
        return new AzureNamedKeyCredential(name, key);
    }

    boolean isReachedOverHttps() {
        return endpoint.startsWith("https:");
    }

    /**
     * How long a change of policies or properties may take to be in force. A real account needs up to half a minute;
     * a server on this machine has no excuse.
     */
    Duration settleTime() {
        String host = URI.create(endpoint).getHost();
        return host.equals("localhost") || host.startsWith("127.") ? Duration.ZERO : Duration.ofSeconds(40);
    }

    TableServiceClient service() {
        return serviceBuilder().credential(credential()).buildClient();
    }

    /** A builder whose clients do not retry: each case wants the first answer. */
    TableServiceClientBuilder serviceBuilder() {
        return new TableServiceClientBuilder().endpoint(endpoint).retryOptions(impatient());
    }

    TableClientBuilder tableBuilder(String table) {
        return new TableClientBuilder().endpoint(endpoint).tableName(table).retryOptions(impatient());
    }

    static RetryOptions impatient() {
        return new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1)));
    }
}
