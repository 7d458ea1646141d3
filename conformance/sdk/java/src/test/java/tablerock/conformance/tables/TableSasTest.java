package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.params.provider.Arguments.arguments;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Refusals.assertRefusedWith;
import static tablerock.conformance.tables.Rows.row;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.TableTransactionAction;
import com.azure.data.tables.models.TableTransactionActionType;
import com.azure.data.tables.sas.TableSasIpRange;
import com.azure.data.tables.sas.TableSasProtocol;
import com.azure.data.tables.sas.TableSasSignatureValues;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tablerock.conformance.Operation;

class TableSasTest extends Case {
    /** What a holder of a token may try, and the letters it needs. */
    enum Attempt {
        QUERY("r") {
            void on(TableClient table) {
                table.listEntities().stream().toList();
            }
        },
        GET("r") {
            void on(TableClient table) {
                table.getEntity("p", "r");
            }
        },
        INSERT("a") {
            void on(TableClient table) {
                table.createEntity(row("p", "new"));
            }
        },
        UPDATE("u") {
            void on(TableClient table) {
                table.updateEntity(row("p", "r"));
            }
        },
        UPSERT("au") {
            void on(TableClient table) {
                table.upsertEntity(row("p", "r"));
            }
        },
        DELETE("d") {
            void on(TableClient table) {
                table.deleteEntity("p", "r");
            }
        };

        final String permissions;

        Attempt(String permissions) {
            this.permissions = permissions;
        }

        abstract void on(TableClient table);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void tableSasPermits(Attempt attempt) {
        table.createEntity(row("p", "r"));
        attempt.on(Sas.open(table, Sas.token(attempt.permissions)));
    }

    /** Every needed letter is needed: one at a time is left out. */
    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @EnumSource
    void tableSasWithoutPermissionRefuses(Attempt attempt) {
        table.createEntity(row("p", "r"));
        for (String letter : attempt.permissions.split("")) {
            TableClient limited = Sas.open(table, Sas.token("raud".replace(letter, "")));
            assertRefused(403, "AuthorizationPermissionMismatch", () -> attempt.on(limited));
        }
    }

    @Test
    @Operation("Authentication")
    void tableSasIgnoresTheCaseOfTheTable() {
        TableClient upper = SERVICE.getTableClient(table.getTableName().toUpperCase(Locale.ROOT));
        TableClient limited = Sas.open(table, upper.generateSas(Sas.token("r")));
        assertEquals(List.of(), limited.listEntities().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void tableSasTakesATransaction() {
        Sas.open(table, Sas.token("a")).submitTransaction(List.of(
            new TableTransactionAction(TableTransactionActionType.CREATE, row("p", "1")),
            new TableTransactionAction(TableTransactionActionType.CREATE, row("p", "2"))));
        assertEquals(List.of("1", "2"), rowKeys(null));
    }

    static Stream<Arguments> refused() {
        OffsetDateTime now = OffsetDateTime.now();
        return Stream.of(
            arguments("expired", Sas.token("r").setExpiryTime(now.minusHours(1)), "AuthenticationFailed"),
            arguments("not yet valid", Sas.token("r").setStartTime(now.plusMinutes(30)), "AuthenticationFailed"),
            arguments("naming an unknown policy", new TableSasSignatureValues("unknown"), "AuthenticationFailed"),
            arguments("for another address", Sas.token("r").setSasIpRange(TableSasIpRange.parse("203.0.113.7")),
                "AuthorizationSourceIPMismatch"));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("Authentication")
    @MethodSource("refused")
    void tableSasIsRefusedWhen(String description, TableSasSignatureValues token, String code) {
        TableClient limited = Sas.open(table, token);
        assertRefused(403, code, () -> limited.listEntities().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void tableSasForAnyAddressIsAccepted() {
        TableClient limited = Sas.open(table, Sas.token("r").setProtocol(TableSasProtocol.HTTPS_HTTP)
            .setSasIpRange(TableSasIpRange.parse("0.0.0.0-255.255.255.255")));
        assertEquals(List.of(), limited.listEntities().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void tableSasForHttpsIsRefusedOverHttp() {
        assumeFalse(ACCOUNT.isReachedOverHttps(), "the account is reached over https");
        TableClient limited = Sas.open(table, Sas.token("r").setProtocol(TableSasProtocol.HTTPS_ONLY));
        assertRefused(403, "AuthorizationProtocolMismatch", () -> limited.listEntities().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void tableSasIsRefusedForAnotherTable() {
        TableClient other = SERVICE.getTableClient(newTable());
        TableClient limited = Sas.open(other, table.generateSas(Sas.token("raud")));
        assertRefusedWith(() -> limited.listEntities().stream().toList(), 403);
    }

    @Test
    @Operation("Authentication")
    void tableSasCannotCreateATable() {
        assertRefusedWith(() -> Sas.open(table, Sas.token("raud")).createTable(), 403);
    }

    @Test
    @Operation("Authentication")
    void tableSasCannotReadPolicies() {
        assertRefusedWith(() -> Sas.open(table, Sas.token("raud")).getAccessPolicies(), 403, 404);
    }
}
