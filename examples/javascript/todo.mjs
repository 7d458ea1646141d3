// A to-do service: tables with an index entity, and a queue worker. See ../README.md.
import { randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";
import { odata, TableClient } from "@azure/data-tables";
import { QueueClient } from "@azure/storage-queue";

const USAGE = "use: add LIST DATE TITLE | list LIST | done LIST ID | work | archive LIST";

/** Returns what a promise gives, or undefined if the service has no such thing. */
async function ifFound(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error.statusCode === 404) return undefined;
    throw error;
  }
}

export class Todo {
  constructor(connectionString) {
    const options = { allowInsecureConnection: true };
    this.todos = TableClient.fromConnectionString(connectionString, "Todos", options);
    this.archive = TableClient.fromConnectionString(connectionString, "Archive", options);
    this.queue = new QueueClient(connectionString, "todo-done");
  }

  async open() {
    await Promise.all([this.todos.createTable(), this.archive.createTable(), this.queue.createIfNotExists()]);
    return this;
  }

  async add(list, due, title) {
    const id = randomBytes(3).toString("hex");
    await this.todos.submitTransaction([
      ["create", { partitionKey: list, rowKey: `item_${id}`, Title: title, Due: due, Done: false }],
      ["create", { partitionKey: list, rowKey: `due_${due}_${id}`, Title: title }],
    ]);
    return [id];
  }

  async list(list) {
    // The character after the underscore ends the range of rows that begin with "due_".
    const filter = odata`PartitionKey eq ${list} and RowKey ge 'due_' and RowKey lt 'due\u0060'`;
    const lines = [];
    for await (const { rowKey, Title } of this.todos.listEntities({ queryOptions: { filter } })) {
      const [, due, id] = rowKey.split("_");
      lines.push(`${due} ${id} ${Title}`);
    }
    return lines;
  }

  async done(list, id) {
    const item = await ifFound(this.todos.getEntity(list, `item_${id}`));
    if (item === undefined) return [`no item ${id} in ${list}`];
    if (!item.Done) {
      const changed = { partitionKey: list, rowKey: item.rowKey, Done: true };
      await this.todos.submitTransaction([
        ["update", changed, "Merge", { etag: item.etag }],
        ["delete", { partitionKey: list, rowKey: `due_${item.Due}_${id}` }],
      ]);
    }
    // After the transaction: a message about an item that is not done would be lost work. A repeated one is harmless.
    await this.queue.sendMessage(JSON.stringify({ list, id }));
    return [`done ${id}`];
  }

  async work() {
    let archived = 0;
    for (;;) {
      // A worker that ends before the delete loses nothing: the message is visible again after 30 seconds.
      const received = await this.queue.receiveMessages({ numberOfMessages: 32, visibilityTimeout: 30 });
      if (received.receivedMessageItems.length === 0) return [`archived ${archived}`];
      for (const message of received.receivedMessageItems) {
        const { list, id } = JSON.parse(message.messageText);
        const item = await ifFound(this.todos.getEntity(list, `item_${id}`));
        // Without an item, an earlier delivery of this message archived it.
        if (item !== undefined) {
          await this.archive.upsertEntity({ partitionKey: list, rowKey: id, Title: item.Title }, "Replace");
          await ifFound(this.todos.deleteEntity(list, item.rowKey));
          archived += 1;
        }
        await this.queue.deleteMessage(message.messageId, message.popReceipt);
      }
    }
  }

  async archived(list) {
    const titles = [];
    const queryOptions = { filter: odata`PartitionKey eq ${list}` };
    for await (const { Title } of this.archive.listEntities({ queryOptions })) titles.push(Title);
    return titles;
  }
}

/** Runs one command and returns the lines that it prints. */
export async function run(connectionString, command, ...rest) {
  const todo = await new Todo(connectionString).open();
  switch (`${command} ${rest.length}`) {
    case "add 3":
      return todo.add(...rest);
    case "list 1":
      return todo.list(...rest);
    case "done 2":
      return todo.done(...rest);
    case "work 0":
      return todo.work();
    case "archive 1":
      return todo.archived(...rest);
    default:
      return [USAGE];
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const connectionString = process.env.AZURE_STORAGE_CONNECTION_STRING ?? "UseDevelopmentStorage=true";
  console.log((await run(connectionString, ...process.argv.slice(2))).join("\n"));
}
