package tablerock.conformance.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.azure.core.exception.HttpResponseException;
import com.azure.core.http.HttpHeaderName;
import com.azure.data.tables.models.TableServiceException;
import com.azure.data.tables.models.TableTransactionFailedException;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.function.Executable;

/** What the SDK reports when the service refuses. */
final class Refusals {
    private static final Pattern CODE = Pattern.compile("\"code\":\\s*\"(\\w*)\"|<(?:\\w+:)?[cC]ode>(\\w+)<");
    private static final HttpHeaderName ERROR_CODE = HttpHeaderName.fromString("x-ms-error-code");

    private record Refusal(int status, String code) {
    }

    private record Broken(Integer index, String code) {
    }

    private Refusals() {
    }

    static void assertRefused(int status, String code, Executable call) {
        HttpResponseException failure = refusal(call);
        assertEquals(new Refusal(status, code), new Refusal(failure.getResponse().getStatusCode(), code(failure)));
    }

    /** For cases in which only the status is settled. */
    static void assertRefusedWith(Executable call, Integer... statuses) {
        int status = refusal(call).getResponse().getStatusCode();
        assertTrue(Arrays.asList(statuses).contains(status), () -> "refused with " + status);
    }

    /** A transaction that breaks on one of its operations; the SDK tells its place and code, not its status. */
    static void assertBroken(Integer index, String code, Executable transaction) {
        TableTransactionFailedException failure
            = assertThrows(TableTransactionFailedException.class, transaction, "the transaction did not break");
        assertEquals(new Broken(index, code), new Broken(failure.getFailedTransactionActionIndex(), code(failure)));
    }

    private static HttpResponseException refusal(Executable call) {
        return assertThrows(HttpResponseException.class, call, "the service accepted what it has to refuse");
    }

    /**
     * The SDK's own exception has the code, unless the body is XML. Paged calls let an exception through that has
     * it only in the message.
     */
    private static String code(HttpResponseException failure) {
        if (failure instanceof TableServiceException typed && typed.getValue() != null
            && typed.getValue().getErrorCode() != null) {
            return typed.getValue().getErrorCode().toString();
        }
        if (failure.getResponse() != null && failure.getResponse().getHeaderValue(ERROR_CODE) != null) {
            return failure.getResponse().getHeaderValue(ERROR_CODE);
        }
        Matcher code = CODE.matcher(failure.getMessage());
        if (!code.find()) {
            return null;
        }
        return code.group(1) != null ? code.group(1) : code.group(2);
    }
}
