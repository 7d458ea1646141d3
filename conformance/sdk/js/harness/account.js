// The account under test, read once from the environment. Knows nothing of any SDK.

const DEVELOPMENT_ACCOUNT_NAME = "devstoreaccount1";
const DEVELOPMENT_ACCOUNT_KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const DEVELOPMENT_PORTS = { blob: 10000, queue: 10001, table: 10002 };
const SERVICES = Object.keys(DEVELOPMENT_PORTS);

const developmentEndpoint = (service) => `http://127.0.0.1:${DEVELOPMENT_PORTS[service]}/${DEVELOPMENT_ACCOUNT_NAME}`;

function parseSettings(text) {
  const pairs = text.split(";").filter((part) => part.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf("=");
      return [pair.slice(0, equals).trim().toLowerCase(), pair.slice(equals + 1).trim()];
    }),
  );
}

function parseAccount(connectionString) {
  const settings = parseSettings(connectionString ?? "");
  if (!connectionString || settings.usedevelopmentstorage === "true") {
    return withEndpoints(DEVELOPMENT_ACCOUNT_NAME, DEVELOPMENT_ACCOUNT_KEY, developmentEndpoint);
  }
  const protocol = settings.defaultendpointsprotocol ?? "https";
  const suffix = settings.endpointsuffix ?? "core.windows.net";
  return withEndpoints(settings.accountname, settings.accountkey, (service) => {
    const endpoint = settings[`${service}endpoint`] ?? `${protocol}://${settings.accountname}.${service}.${suffix}`;
    return endpoint.replace(/\/+$/, "");
  });
}

function withEndpoints(name, key, endpointOf) {
  const endpoints = Object.fromEntries(SERVICES.map((service) => [service, endpointOf(service)]));
  return { name, key, endpoints, endpoint: endpoints.table };
}

/**
 * The account under test: name, key, and the primary endpoints (without a trailing slash) of its services. `endpoint`
 * is that of the tables.
 */
export const account = parseAccount(process.env.CONFORMANCE_CONNECTION_STRING);

/** Whether the account is a path segment, as with an emulator, rather than the first label of the host. */
export const isPathStyle = new URL(account.endpoint).pathname.length > 1;

/** Whether requests travel in the clear. */
export const isPlainHttp = account.endpoint.startsWith("http:");

/** Whether the target is what `UseDevelopmentStorage=true` stands for. */
export const isDevelopmentDefault =
  account.key === DEVELOPMENT_ACCOUNT_KEY &&
  SERVICES.every((service) => account.endpoints[service] === developmentEndpoint(service));

/** The endpoint of the read-only copy of a service. */
export const secondaryOf = (service) =>
  isPathStyle
    ? `${account.endpoints[service]}-secondary`
    : account.endpoints[service].replace(account.name, `${account.name}-secondary`);

/** The endpoint of the read-only copy of the tables. */
export const secondaryEndpoint = secondaryOf("table");

/** A connection string for the account in its explicit form, whatever form the environment used. */
export const connectionString = [
  `DefaultEndpointsProtocol=${isPlainHttp ? "http" : "https"}`,
  `AccountName=${account.name}`,
  `AccountKey=${account.key}`,
  `BlobEndpoint=${account.endpoints.blob}`,
  `QueueEndpoint=${account.endpoints.queue}`,
  `TableEndpoint=${account.endpoints.table}`,
].join(";");
