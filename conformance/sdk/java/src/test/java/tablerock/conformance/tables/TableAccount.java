package tablerock.conformance.tables;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import java.time.Duration;
import tablerock.conformance.Account;

/** How a case reaches the tables of the account. */
record TableAccount(Account account) {
    static TableAccount fromEnvironment() {
        return new TableAccount(Account.fromEnvironment());
    }

    String connection() {
        return account.connection();
    }

    String name() {
        return account.name();
    }

    String key() {
        return account.key();
    }

    String endpoint() {
        return account.endpoint("Table");
    }

    String secondary() {
        return account.secondary("Table");
    }

    boolean isReachedOverHttps() {
        return account.isReachedOverHttps();
    }

    AzureNamedKeyCredential credential() {
        return new AzureNamedKeyCredential(name(), key());
    }

    TableServiceClient service() {
        return serviceBuilder().credential(credential()).buildClient();
    }

    /** A builder whose clients do not retry: each case wants the first answer. */
    TableServiceClientBuilder serviceBuilder() {
        return new TableServiceClientBuilder().endpoint(endpoint()).retryOptions(impatient());
    }

    TableClientBuilder tableBuilder(String table) {
        return new TableClientBuilder().endpoint(endpoint()).tableName(table).retryOptions(impatient());
    }

    static RetryOptions impatient() {
        return new RetryOptions(new FixedDelayOptions(0, Duration.ofMillis(1)));
    }
}
