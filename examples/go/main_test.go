package main

import (
	"context"
	"slices"
	"testing"

	"example.com/todo/tablerocktest"
)

func TestAnItemFromItsAdditionToTheArchive(t *testing.T) {
	account := tablerocktest.Start(t).Account(t)
	todo := func(arguments ...string) []string {
		t.Helper()
		lines, err := run(context.Background(), account.ConnectionString(), arguments...)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	expect := func(lines []string, arguments ...string) {
		t.Helper()
		if printed := todo(arguments...); !slices.Equal(printed, lines) {
			t.Fatalf("%v printed %q, not %q", arguments, printed, lines)
		}
	}

	tree := todo("add", "home", "2026-12-24", "Buy a tree")[0]
	milk := todo("add", "home", "2026-12-01", "Buy milk")[0]
	todo("add", "work", "2026-12-02", "Ship it")
	expect([]string{"2026-12-01 " + milk + " Buy milk", "2026-12-24 " + tree + " Buy a tree"}, "list", "home")

	expect([]string{"done " + milk}, "done", "home", milk)
	expect([]string{"2026-12-24 " + tree + " Buy a tree"}, "list", "home")
	expect([]string{"done " + milk}, "done", "home", milk)
	expect([]string{"archived 1"}, "work")
	expect([]string{"no item " + milk + " in home"}, "done", "home", milk)
	expect([]string{"archived 0"}, "work")
	expect([]string{"Buy milk"}, "archive", "home")
}
