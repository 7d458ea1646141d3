package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Rows.row;

import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import com.azure.data.tables.sas.TableAccountSasSignatureValues;
import com.azure.data.tables.sas.TableSasProtocol;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

class AccountSasTest extends Case {
    /** What an account SAS can open, with the resource type and the letters each needs. */
    enum Attempt {
        GET_PROPERTIES("s", "r") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.getProperties();
            }
        },
        LIST_TABLES("c", "l") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.listTables().stream().toList();
            }
        },
        CREATE_TABLE("c", "c") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.createTable(test.deleteAfterwards(newTableName()));
            }
        },
        DELETE_TABLE("c", "d") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.deleteTable(test.table.getTableName());
            }
        },
        QUERY("o", "r") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.getTableClient(test.table.getTableName()).listEntities().stream().toList();
            }
        },
        INSERT("o", "a") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.getTableClient(test.table.getTableName()).createEntity(row("p", "new"));
            }
        },
        UPDATE("o", "u") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.getTableClient(test.table.getTableName()).updateEntity(row("p", "r"));
            }
        },
        UPSERT("o", "au") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.getTableClient(test.table.getTableName()).upsertEntity(row("p", "r"));
            }
        },
        DELETE("o", "d") {
            void on(TableServiceClient service, AccountSasTest test) {
                service.getTableClient(test.table.getTableName()).deleteEntity("p", "r");
            }
        };

        final String resource;
        final String permissions;

        Attempt(String resource, String permissions) {
            this.resource = resource;
            this.permissions = permissions;
        }

        abstract void on(TableServiceClient service, AccountSasTest test);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void accountSasPermits(Attempt attempt) {
        table.createEntity(row("p", "r"));
        attempt.on(Sas.open(Sas.accountToken(attempt.resource, attempt.permissions)), this);
    }

    /**
     * A missing c is made good by w when a table is created, but nothing stands in for the other letters; in
     * particular w does not allow an insert.
     */
    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void accountSasWithoutPermissionRefuses(Attempt attempt) {
        table.createEntity(row("p", "r"));
        for (String letter : attempt.permissions.split("")) {
            String others = letter.equals("c") ? "rdlaup" : "rwdlacup".replace(letter, "");
            TableServiceClient limited = Sas.open(Sas.accountToken("sco", others));
            assertRefused(403, "AuthorizationPermissionMismatch", () -> attempt.on(limited, this));
        }
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void accountSasWithoutResourceTypeRefuses(Attempt attempt) {
        table.createEntity(row("p", "r"));
        TableServiceClient limited = Sas.open(Sas.accountToken("sco".replace(attempt.resource, ""), "rwdlacup"));
        assertRefused(403, "AuthorizationResourceTypeMismatch", () -> attempt.on(limited, this));
    }

    @Test
    @Operation("Authentication")
    void accountSasWithWriteMayCreateATable() {
        String name = deleteAfterwards(newTableName());
        TableServiceClient limited = Sas.open(Sas.accountToken("c", "w"));
        assertEquals(204, limited.createTableWithResponse(name, null, null).getStatusCode());
    }

    @Test
    @Operation("Authentication")
    void accountSasTakesATransaction() {
        Sas.open(Sas.accountToken("o", "a")).getTableClient(table.getTableName()).submitTransaction(
            List.of(new TableTransactionAction(TableTransactionActionType.CREATE, row("p", "1"))));
        assertEquals(List.of("1"), rowKeys(null));
    }

    static Stream<Arguments> refused() {
        OffsetDateTime now = OffsetDateTime.now();
        return Stream.of(
            arguments("expired", Sas.accountToken("t", "sco", "rwdlacup", now.minusHours(1)), "AuthenticationFailed"),
            arguments("not yet valid", Sas.accountToken("sco", "rwdlacup").setStartTime(now.plusMinutes(30)),
                "AuthenticationFailed"),
            arguments("for other services", Sas.accountToken("bqf", "sco", "rwdlacup", now.plusHours(1)),
                "AuthorizationServiceMismatch"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @MethodSource("refused")
    void accountSasIsRefusedWhen(String description, TableAccountSasSignatureValues token, String code) {
        assertRefused(403, code, () -> Sas.open(token).listTables().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void accountSasForHttpsIsRefusedOverHttp() {
        assumeFalse(ACCOUNT.isReachedOverHttps(), "the account is reached over https");
        TableServiceClient limited = Sas.open(Sas.accountToken("c", "l").setProtocol(TableSasProtocol.HTTPS_ONLY));
        assertRefused(403, "AuthorizationProtocolMismatch", () -> limited.listTables().stream().toList());
    }
}
