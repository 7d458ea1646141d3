package tablerock.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.http.HttpHeaderName;
import java.util.Arrays;
import org.junit.jupiter.api.function.Executable;

/** What the SDKs of queues and blobs report when the service refuses. */
public final class Refusals {
    private static final HttpHeaderName ERROR_CODE = HttpHeaderName.fromString("x-ms-error-code");

    private record Refusal(int status, String code) {
    }

    private Refusals() {
    }

    public static void assertRefused(int status, String code, Executable call) {
        HttpResponseException failure = refusal(call);
        assertEquals(new Refusal(status, code), new Refusal(failure.getResponse().getStatusCode(),
            failure.getResponse().getHeaderValue(ERROR_CODE)));
    }

    /** For cases in which only the status is settled. */
    public static void assertRefusedWith(Executable call, Integer... statuses) {
        int status = refusal(call).getResponse().getStatusCode();
        assertTrue(Arrays.asList(statuses).contains(status), () -> "refused with " + status);
    }

    private static HttpResponseException refusal(Executable call) {
        return assertThrows(HttpResponseException.class, call, "the service accepted what it has to refuse");
    }
}
