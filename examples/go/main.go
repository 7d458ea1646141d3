// A to-do service: tables with an index entity, and a queue worker. See ../README.md.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
)

const usage = "use: add LIST DATE TITLE | list LIST | done LIST ID | work | archive LIST"

// The account that every start of tablerock serves on this machine.
const development = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;" +
	"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;" +
	"QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"

type todo struct {
	todos, archive *aztables.Client
	queue          *azqueue.QueueClient
}

// entity has the properties of items, index entities and archived items.
type entity struct {
	PartitionKey, RowKey, Title string
	Due                         string `json:",omitempty"`
	Done                        bool   `json:",omitempty"`
}

// job is the content of a message.
type job struct {
	List string `json:"list"`
	ID   string `json:"id"`
}

func open(ctx context.Context, connectionString string) (*todo, error) {
	tables, err := aztables.NewServiceClientFromConnectionString(connectionString, nil)
	if err != nil {
		return nil, err
	}
	queue, err := azqueue.NewQueueClientFromConnectionString(connectionString, "todo-done", nil)
	if err != nil {
		return nil, err
	}
	app := &todo{todos: tables.NewClient("Todos"), archive: tables.NewClient("Archive"), queue: queue}
	for _, table := range []*aztables.Client{app.todos, app.archive} {
		if _, err := table.CreateTable(ctx, nil); err != nil && !hasStatus(err, http.StatusConflict) {
			return nil, err
		}
	}
	_, err = queue.Create(ctx, nil)
	return app, err
}

func (app *todo) add(ctx context.Context, list, due, title string) ([]string, error) {
	random := make([]byte, 3)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	id := hex.EncodeToString(random)
	item := encode(entity{PartitionKey: list, RowKey: "item_" + id, Title: title, Due: due})
	index := encode(entity{PartitionKey: list, RowKey: "due_" + due + "_" + id, Title: title})
	_, err := app.todos.SubmitTransaction(ctx, []aztables.TransactionAction{
		{ActionType: aztables.TransactionTypeAdd, Entity: item},
		{ActionType: aztables.TransactionTypeAdd, Entity: index},
	}, nil)
	return []string{id}, err
}

func (app *todo) list(ctx context.Context, list string) ([]string, error) {
	// The character after the underscore ends the range of rows that begin with "due_".
	found, err := query(ctx, app.todos, "PartitionKey eq '"+quote(list)+"' and RowKey ge 'due_' and RowKey lt 'due`'")
	lines := make([]string, 0, len(found))
	for _, index := range found {
		key := strings.SplitN(index.RowKey, "_", 3)
		lines = append(lines, fmt.Sprintf("%s %s %s", key[1], key[2], index.Title))
	}
	return lines, err
}

func (app *todo) done(ctx context.Context, list, id string) ([]string, error) {
	found, err := app.todos.GetEntity(ctx, list, "item_"+id, nil)
	if hasStatus(err, http.StatusNotFound) {
		return []string{fmt.Sprintf("no item %s in %s", id, list)}, nil
	}
	if err != nil {
		return nil, err
	}
	var item entity
	if err := json.Unmarshal(found.Value, &item); err != nil {
		return nil, err
	}
	if !item.Done {
		item.Done = true
		index := encode(entity{PartitionKey: list, RowKey: "due_" + item.Due + "_" + id})
		_, err := app.todos.SubmitTransaction(ctx, []aztables.TransactionAction{
			{ActionType: aztables.TransactionTypeUpdateMerge, Entity: encode(item), IfMatch: to.Ptr(found.ETag)},
			{ActionType: aztables.TransactionTypeDelete, Entity: index, IfMatch: to.Ptr(azcore.ETagAny)},
		}, nil)
		if err != nil {
			return nil, err
		}
	}
	// After the transaction: a message about an item that is not done would be lost work. A repeated one is harmless.
	message, err := json.Marshal(job{List: list, ID: id})
	if err != nil {
		return nil, err
	}
	_, err = app.queue.EnqueueMessage(ctx, string(message), nil)
	return []string{"done " + id}, err
}

func (app *todo) work(ctx context.Context) ([]string, error) {
	// A worker that ends before the delete loses nothing: the message is visible again after 30 seconds.
	options := &azqueue.DequeueMessagesOptions{NumberOfMessages: to.Ptr(int32(32)), VisibilityTimeout: to.Ptr(int32(30))}
	for archived := 0; ; {
		received, err := app.queue.DequeueMessages(ctx, options)
		if err != nil {
			return nil, err
		}
		if len(received.Messages) == 0 {
			return []string{fmt.Sprintf("archived %d", archived)}, nil
		}
		for _, message := range received.Messages {
			isArchived, err := app.archiveItem(ctx, *message.MessageText)
			if err != nil {
				return nil, err
			}
			if isArchived {
				archived++
			}
			if _, err := app.queue.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil); err != nil {
				return nil, err
			}
		}
	}
}

// archiveItem moves the item of a message. It reports false if an earlier delivery of the message has moved it.
func (app *todo) archiveItem(ctx context.Context, message string) (bool, error) {
	var work job
	if err := json.Unmarshal([]byte(message), &work); err != nil {
		return false, err
	}
	found, err := app.todos.GetEntity(ctx, work.List, "item_"+work.ID, nil)
	if hasStatus(err, http.StatusNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var item entity
	if err := json.Unmarshal(found.Value, &item); err != nil {
		return false, err
	}
	archived := encode(entity{PartitionKey: work.List, RowKey: work.ID, Title: item.Title})
	options := &aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace}
	if _, err := app.archive.UpsertEntity(ctx, archived, options); err != nil {
		return false, err
	}
	_, err = app.todos.DeleteEntity(ctx, work.List, item.RowKey, nil)
	if hasStatus(err, http.StatusNotFound) {
		err = nil
	}
	return err == nil, err
}

func (app *todo) archived(ctx context.Context, list string) ([]string, error) {
	found, err := query(ctx, app.archive, "PartitionKey eq '"+quote(list)+"'")
	titles := make([]string, 0, len(found))
	for _, item := range found {
		titles = append(titles, item.Title)
	}
	return titles, err
}

// query returns the entities of all pages.
func query(ctx context.Context, table *aztables.Client, filter string) ([]entity, error) {
	var found []entity
	for pages := table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &filter}); pages.More(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, bytes := range page.Entities {
			var next entity
			if err := json.Unmarshal(bytes, &next); err != nil {
				return nil, err
			}
			found = append(found, next)
		}
	}
	return found, nil
}

// quote doubles the quotation marks of a text in a filter.
func quote(text string) string {
	return strings.ReplaceAll(text, "'", "''")
}

func encode(value entity) []byte {
	bytes, err := json.Marshal(value)
	if err != nil {
		panic(err) // Texts and a bool always have a JSON form.
	}
	return bytes
}

func hasStatus(err error, status int) bool {
	var failed *azcore.ResponseError
	return errors.As(err, &failed) && failed.StatusCode == status
}

// run runs one command and returns the lines that it prints.
func run(ctx context.Context, connectionString string, arguments ...string) ([]string, error) {
	app, err := open(ctx, connectionString)
	if err != nil {
		return nil, err
	}
	command, rest := strings.Join(arguments[:min(1, len(arguments))], ""), arguments[min(1, len(arguments)):]
	switch {
	case command == "add" && len(rest) == 3:
		return app.add(ctx, rest[0], rest[1], rest[2])
	case command == "list" && len(rest) == 1:
		return app.list(ctx, rest[0])
	case command == "done" && len(rest) == 2:
		return app.done(ctx, rest[0], rest[1])
	case command == "work" && len(rest) == 0:
		return app.work(ctx)
	case command == "archive" && len(rest) == 1:
		return app.archived(ctx, rest[0])
	}
	return []string{usage}, nil
}

func main() {
	connectionString := os.Getenv("AZURE_STORAGE_CONNECTION_STRING")
	if connectionString == "" {
		connectionString = development
	}
	lines, err := run(context.Background(), connectionString, os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(lines, "\n"))
}
