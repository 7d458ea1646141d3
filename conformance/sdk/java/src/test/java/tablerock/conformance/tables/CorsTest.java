package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.http.HttpClient;
import com.azure.core.http.HttpHeaderName;
import com.azure.core.http.HttpHeaders;
import com.azure.core.http.HttpMethod;
import com.azure.core.http.HttpRequest;
import com.azure.core.http.HttpResponse;
import com.azure.core.http.policy.AddHeadersPolicy;
import com.azure.core.util.Context;
import com.azure.data.tables.models.TableServiceProperties;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tablerock.conformance.Operation;

/** What a browser sees of the rules. They belong to the account, so no rule is left behind. */
class CorsTest extends Case {
    private static final String ALLOWED = "http://allowed.example";
    private static final HttpHeaderName ALLOW_ORIGIN = HttpHeaderName.ACCESS_CONTROL_ALLOW_ORIGIN;

    @BeforeEach
    void allow() throws Exception {
        SERVICE.setProperties(new TableServiceProperties().setCorsRules(List.of(Cors.rule(ALLOWED))));
        eventually(() -> Cors.origins(SERVICE.getProperties()).equals(List.of(ALLOWED)));
    }

    @AfterEach
    void clear() {
        SERVICE.setProperties(new TableServiceProperties().setCorsRules(List.of()));
    }

    private HttpHeaders queryFrom(String origin) {
        var client = ACCOUNT.tableBuilder(table.getTableName()).credential(ACCOUNT.credential())
            .addPolicy(new AddHeadersPolicy(new HttpHeaders().set(HttpHeaderName.ORIGIN, origin))).buildClient();
        return client.listEntities().iterableByPage().iterator().next().getHeaders();
    }

    /** The SDK has no preflight; a browser sends it, so this does too. */
    private HttpResponse preflight(String origin, String method) {
        HttpRequest request = new HttpRequest(HttpMethod.OPTIONS, ACCOUNT.endpoint() + "/" + table.getTableName())
            .setHeader(HttpHeaderName.ORIGIN, origin)
            .setHeader(HttpHeaderName.fromString("Access-Control-Request-Method"), method)
            .setHeader(HttpHeaderName.fromString("Access-Control-Request-Headers"), "x-ms-version,Content-Type");
        return HttpClient.createDefault().sendSync(request, Context.NONE);
    }

    @Test
    @Operation("SetTableServiceProperties")
    void corsHeadersOnAnAllowedRequest() {
        HttpHeaders answer = queryFrom(ALLOWED);
        assertEquals(ALLOWED, answer.getValue(ALLOW_ORIGIN));
        assertEquals("x-ms-request-id", answer.getValue(HttpHeaderName.ACCESS_CONTROL_EXPOSE_HEADERS));
    }

    @Test
    @Operation("SetTableServiceProperties")
    void noCorsHeadersForAnotherOrigin() {
        assertNull(queryFrom("http://other.example").getValue(ALLOW_ORIGIN));
    }

    @Test
    @Operation("TablePreflightRequest")
    void preflightOfAnAllowedRequest() {
        HttpResponse answer = preflight(ALLOWED, "PUT");
        assertEquals(200, answer.getStatusCode());
        assertEquals(ALLOWED, answer.getHeaderValue(ALLOW_ORIGIN));
        assertTrue(answer.getHeaderValue(HttpHeaderName.ACCESS_CONTROL_ALLOW_METHODS).contains("PUT"));
        assertEquals("60", answer.getHeaderValue(HttpHeaderName.ACCESS_CONTROL_MAX_AGE));
    }

    @ParameterizedTest(name = "{0}")
    @Operation("TablePreflightRequest")
    @CsvSource({"for another origin, http://other.example, GET", "for another method, http://allowed.example, DELETE"})
    void preflightIsRefused(String description, String origin, String method) {
        assertEquals(403, preflight(origin, method).getStatusCode());
    }
}
