package tablerock.conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Writes one JSON line for each case to the file named by {@code CONFORMANCE_RESULTS}.
 *
 * <p>A case is named after its method, and a parameterised one also after its first argument:
 * {@code insertKeeps("empty string")} is {@code insert_keeps_empty_string}.
 */
public final class ResultWriter implements TestWatcher {
    private static final int DETAIL_LENGTH_MAX = 400;

    @Override
    public void testSuccessful(ExtensionContext context) {
        write(context, "passed", "");
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        write(context, "failed", String.valueOf(cause.getMessage()));
    }

    @Override
    public void testAborted(ExtensionContext context, Throwable cause) {
        write(context, "skipped", String.valueOf(cause.getMessage()));
    }

    @Override
    public void testDisabled(ExtensionContext context, Optional<String> reason) {
        write(context, "skipped", reason.orElse(""));
    }

    private static synchronized void write(ExtensionContext context, String outcome, String detail) {
        String path = System.getenv("CONFORMANCE_RESULTS");
        if (path == null || path.isEmpty()) {
            return;
        }
        String operation = context.getRequiredTestMethod().getAnnotation(Operation.class).value();
        String line = String.format("{\"suite\":\"java\",\"operation\":%s,\"case\":%s,\"outcome\":%s,\"detail\":%s}%n",
            quote(operation), quote(caseName(context)), quote(outcome), quote(oneLine(detail)));
        try {
            Files.writeString(Path.of(path), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String caseName(ExtensionContext context) {
        String method = context.getRequiredTestMethod().getName();
        String name = method.replaceAll("([a-z])([A-Z0-9])", "$1_$2").replaceAll("([A-Z0-9])([A-Z][a-z])", "$1_$2");
        String display = context.getDisplayName();
        if (!display.startsWith(method + "(")) {
            name += "_" + display.replace(' ', '_');
        }
        return name.toLowerCase(Locale.ROOT);
    }

    private static String oneLine(String detail) {
        String line = detail.replaceAll("\\s+", " ").strip();
        return line.substring(0, Math.min(line.length(), DETAIL_LENGTH_MAX));
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
