package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;

import com.azure.core.credential.AzureNamedKeyCredential;
import com.azure.data.tables.TableClientBuilder;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.TableServiceClientBuilder;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import java.util.List;
import org.junit.jupiter.api.Test;
import tablerock.conformance.Operation;

class AuthenticationTest extends Case {
    private static TableServiceClient withWrongKey() {
        return ACCOUNT.serviceBuilder().credential(new AzureNamedKeyCredential(ACCOUNT.name(), "bm90IHRoZSBrZXk="))
            .buildClient();
    }

    @Test
    @Operation("Authentication")
    void connectionStringOpensTheAccount() {
        new TableServiceClientBuilder().connectionString(ACCOUNT.connection()).retryOptions(TableAccount.impatient())
            .buildClient().getTableClient(table.getTableName()).createEntity(row("p", "r"));
        assertEquals(List.of("r"), rowKeys(null));
    }

    @Test
    @Operation("Authentication")
    void connectionStringOpensATable() {
        new TableClientBuilder().connectionString(ACCOUNT.connection()).tableName(table.getTableName())
            .retryOptions(TableAccount.impatient()).buildClient().createEntity(row("p", "r"));
        assertEquals(List.of("r"), rowKeys(null));
    }

    @Test
    @Operation("Authentication")
    void endpointAndSharedKeyOpenATable() {
        ACCOUNT.tableBuilder(table.getTableName()).credential(ACCOUNT.credential()).buildClient()
            .createEntity(row("p", "r"));
        assertEquals(List.of("r"), rowKeys(null));
    }

    @Test
    @Operation("Authentication")
    void wrongKeyIsRefusedByQueryTables() {
        assertRefused(403, "AuthenticationFailed", () -> withWrongKey().listTables().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void wrongKeyIsRefusedByGetEntity() {
        assertRefused(403, "AuthenticationFailed",
            () -> withWrongKey().getTableClient(table.getTableName()).getEntity("p", "r"));
    }

    @Test
    @Operation("Authentication")
    void wrongKeyIsRefusedByTransaction() {
        var actions = List.of(new TableTransactionAction(TableTransactionActionType.CREATE, row("p", "r")));
        assertRefused(403, "AuthenticationFailed",
            () -> withWrongKey().getTableClient(table.getTableName()).submitTransaction(actions));
    }

    @Test
    @Operation("Authentication")
    void wrongKeyIsRefusedByGetProperties() {
        assertRefused(403, "AuthenticationFailed", () -> withWrongKey().getProperties());
    }

    @Test
    @Operation("Authentication")
    void wronglySignedTokenIsRefused() {
        var limited = ACCOUNT.tableBuilder(table.getTableName())
            .sasToken(table.generateSas(Sas.token("raud")).replaceAll("sig=[^&]*", "sig=bm90IHRoZSBzaWduYXR1cmU%3D"))
            .buildClient();
        assertRefused(403, "AuthenticationFailed", () -> limited.getEntity("p", "r"));
    }
}
