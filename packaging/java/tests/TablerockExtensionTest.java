import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.azure.data.tables.TableServiceClientBuilder;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The extension as a project uses it, with Microsoft's SDK. */
@ExtendWith(TablerockExtension.class)
class TablerockExtensionTest {
    @RepeatedTest(2)
    void eachTestHasAnAccountOfItsOwn(TablerockExtension.Account account) {
        var tables = new TableServiceClientBuilder().connectionString(account.connectionString()).buildClient();
        tables.createTable("People");
    }

    @Test
    void namesAreChosenOnce(TablerockExtension.Server server, TablerockExtension.Account other) {
        assertEquals("mine", server.account("mine").name());
        assertNotEquals("mine", other.name());
        assertThrows(IllegalArgumentException.class, () -> server.account("mine"));
    }
}
