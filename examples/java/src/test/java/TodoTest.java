import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TablerockExtension.class)
class TodoTest {
    @Test
    void anItemFromItsAdditionToTheArchive(TablerockExtension.Account account) {
        String connection = account.connectionString();
        String tree = Todo.run(connection, "add", "home", "2026-12-24", "Buy a tree").get(0);
        String milk = Todo.run(connection, "add", "home", "2026-12-01", "Buy milk").get(0);
        Todo.run(connection, "add", "work", "2026-12-02", "Ship it");
        List<String> both = List.of("2026-12-01 " + milk + " Buy milk", "2026-12-24 " + tree + " Buy a tree");
        assertEquals(both, Todo.run(connection, "list", "home"));

        assertEquals(List.of("done " + milk), Todo.run(connection, "done", "home", milk));
        assertEquals(List.of(both.get(1)), Todo.run(connection, "list", "home"));
        assertEquals(List.of("done " + milk), Todo.run(connection, "done", "home", milk));
        assertEquals(List.of("archived 1"), Todo.run(connection, "work"));
        assertEquals(List.of("no item " + milk + " in home"), Todo.run(connection, "done", "home", milk));
        assertEquals(List.of("archived 0"), Todo.run(connection, "work"));
        assertEquals(List.of("Buy milk"), Todo.run(connection, "archive", "home"));
    }
}
