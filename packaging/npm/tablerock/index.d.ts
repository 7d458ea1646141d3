/** An account of a server, with the endpoints of its services. */
export interface Account {
  readonly name: string;
  readonly key: string;
  readonly blobEndpoint: string;
  readonly queueEndpoint: string;
  readonly tableEndpoint: string;
  /** The connection string for every SDK. */
  readonly connectionString: string;
}

/** A server as a process on free ports of this machine. */
export interface Server {
  /** Adds an account with a new key, and with a new name unless one is given. */
  account(name?: string): Promise<Account>;
  /** Stops the server. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The folder for data; without it, data is kept in memory. */
  location?: string;
  /** Further flags of `tablerock serve`. */
  args?: string[];
  /** Time to wait until the server is ready, in milliseconds; 60,000 if not set. */
  startTimeoutMs?: number;
}

/** Starts a server and returns once it is ready. */
export function start(options?: StartOptions): Promise<Server>;

/** Stops all servers that this process started. */
export function stop(): Promise<void>;

/** Returns the path of the binary. The variable `TABLEROCK_BINARY` chooses another one. */
export function findBinary(): string;
