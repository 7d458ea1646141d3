package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static tablerock.conformance.tables.Refusals.assertRefused;
import static tablerock.conformance.tables.Refusals.assertRefusedWith;
import static tablerock.conformance.tables.Rows.row;

import com.azure.core.exception.HttpResponseException;
import com.azure.data.tables.TableClient;
import com.azure.data.tables.models.TableAccessPolicy;
import com.azure.data.tables.models.TableSignedIdentifier;
import com.azure.data.tables.sas.TableSasSignatureValues;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import tablerock.conformance.Operation;

/** Stored access policies, on their own and behind a SAS. */
class PoliciesTest extends Case {
    private record Policy(String id, OffsetDateTime start, OffsetDateTime expiry, String permissions) {
    }

    private static TableSignedIdentifier policy(String id, String permissions) {
        OffsetDateTime now = OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.SECONDS);
        return new TableSignedIdentifier(id).setAccessPolicy(new TableAccessPolicy().setStartsOn(now.minusHours(1))
            .setExpiresOn(now.plusHours(1)).setPermissions(permissions));
    }

    private static List<Policy> comparable(List<TableSignedIdentifier> identifiers) {
        return identifiers.stream().map(each -> new Policy(each.getId(), each.getAccessPolicy().getStartsOn(),
            each.getAccessPolicy().getExpiresOn(), each.getAccessPolicy().getPermissions())).toList();
    }

    private List<TableSignedIdentifier> policies() {
        List<TableSignedIdentifier> found = table.getAccessPolicies().getIdentifiers();
        return found == null ? List.of() : found;
    }

    private static boolean isOpen(TableClient limited) {
        try {
            limited.listEntities().stream().toList();
            return true;
        } catch (HttpResponseException refused) {
            return false;
        }
    }

    @Test
    @Operation("GetTableAcl")
    void newTableHasNoPolicies() {
        assertEquals(List.of(), policies());
    }

    @Test
    @Operation("GetTableAcl")
    void policiesOfMissingTableAreNotFound() {
        assertRefusedWith(() -> missingTable().getAccessPolicies(), 404);
    }

    @Test
    @Operation("SetTableAcl")
    void setPoliciesOfMissingTableIsNotFound() {
        assertRefusedWith(() -> missingTable().setAccessPolicies(List.of(policy("id", "r"))), 404);
    }

    @Test
    @Operation("SetTableAcl")
    void fivePoliciesComeBackAsSet() {
        List<TableSignedIdentifier> set = List.of(policy("policy0", "r"), policy("policy1", "a"),
            policy("policy2", "u"), policy("policy3", "d"), policy("policy4", "raud"));
        table.setAccessPolicies(set);
        assertEquals(comparable(set), comparable(policies()));
    }

    @Test
    @Operation("SetTableAcl")
    void sixPoliciesAreRefused() {
        List<TableSignedIdentifier> six = IntStream.range(0, 6).mapToObj(i -> policy("policy" + i, "r")).toList();
        assertRefused(400, "InvalidXmlDocument", () -> table.setAccessPolicies(six));
    }

    @Test
    @Operation("SetTableAcl")
    void policyIdOf64CharactersIsAccepted() {
        table.setAccessPolicies(List.of(policy("i".repeat(64), "r")));
        assertEquals(1, policies().size());
    }

    @Test
    @Operation("SetTableAcl")
    void policyIdOf65CharactersIsRefused() {
        assertRefusedWith(() -> table.setAccessPolicies(List.of(policy("i".repeat(65), "r"))), 400);
    }

    @Test
    @Operation("SetTableAcl")
    void settingPoliciesReplacesThemAll() {
        table.setAccessPolicies(List.of(policy("first", "r"), policy("second", "r")));
        table.setAccessPolicies(List.of(policy("third", "r")));
        assertEquals(List.of("third"), policies().stream().map(TableSignedIdentifier::getId).toList());
        table.setAccessPolicies(List.of());
        assertEquals(List.of(), policies());
    }

    @Test
    @Operation("SetTableAcl")
    void policyMayLeaveOutFields() {
        table.setAccessPolicies(List.of(
            new TableSignedIdentifier("partial").setAccessPolicy(new TableAccessPolicy().setPermissions("r"))));
        TableAccessPolicy found = policies().get(0).getAccessPolicy();
        assertEquals("r", found.getPermissions());
        assertNull(found.getStartsOn());
        assertNull(found.getExpiresOn());
    }

    @Test
    @Operation("Authentication")
    void sasTakesItsTermsFromThePolicy() throws Exception {
        table.setAccessPolicies(List.of(policy("reader", "r")));
        TableClient limited = Sas.open(table, new TableSasSignatureValues("reader"));
        eventually(() -> isOpen(limited));
        assertRefused(403, "AuthorizationPermissionMismatch", () -> limited.createEntity(row("p", "r")));
    }

    @Test
    @Operation("Authentication")
    void revokedPolicyEndsItsSas() throws Exception {
        table.setAccessPolicies(List.of(policy("reader", "r")));
        TableClient limited = Sas.open(table, new TableSasSignatureValues("reader"));
        eventually(() -> isOpen(limited));
        table.setAccessPolicies(List.of());
        eventually(() -> !isOpen(limited));
        assertRefused(403, "AuthenticationFailed", () -> limited.listEntities().stream().toList());
    }

    @Test
    @Operation("Authentication")
    void expiredPolicyEndsItsSas() {
        TableSignedIdentifier expired = policy("reader", "r");
        expired.getAccessPolicy().setExpiresOn(expired.getAccessPolicy().getStartsOn().plusMinutes(1));
        table.setAccessPolicies(List.of(expired));
        TableClient limited = Sas.open(table, new TableSasSignatureValues("reader"));
        assertRefused(403, "AuthenticationFailed", () -> limited.listEntities().stream().toList());
    }

    /** The policy brings the permissions, the token the time. */
    @Test
    @Operation("Authentication")
    void sasCompletesAPartialPolicy() throws Exception {
        table.setAccessPolicies(List.of(
            new TableSignedIdentifier("reader").setAccessPolicy(new TableAccessPolicy().setPermissions("r"))));
        TableClient limited = Sas.open(table,
            new TableSasSignatureValues("reader").setExpiryTime(OffsetDateTime.now().plusHours(1)));
        eventually(() -> isOpen(limited));
    }
}
