// The account under test, read once from the environment. Knows nothing of any SDK.

const DEVELOPMENT_ACCOUNT_NAME = "devstoreaccount1";
const DEVELOPMENT_ACCOUNT_KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const DEVELOPMENT_ENDPOINT = `http://127.0.0.1:10002/${DEVELOPMENT_ACCOUNT_NAME}`;

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
    return { name: DEVELOPMENT_ACCOUNT_NAME, key: DEVELOPMENT_ACCOUNT_KEY, endpoint: DEVELOPMENT_ENDPOINT };
  }
  const protocol = settings.defaultendpointsprotocol ?? "https";
  const suffix = settings.endpointsuffix ?? "core.windows.net";
  const endpoint = settings.tableendpoint ?? `${protocol}://${settings.accountname}.table.${suffix}`;
  return { name: settings.accountname, key: settings.accountkey, endpoint: endpoint.replace(/\/+$/, "") };
}

/** Name, key and primary endpoint (without a trailing slash) of the account under test. */
export const account = parseAccount(process.env.CONFORMANCE_CONNECTION_STRING);

/** Whether the account is a path segment, as with an emulator, rather than the first label of the host. */
export const isPathStyle = new URL(account.endpoint).pathname.length > 1;

/** Whether requests travel in the clear. */
export const isPlainHttp = account.endpoint.startsWith("http:");

/** Whether the target is what `UseDevelopmentStorage=true` stands for. */
export const isDevelopmentDefault =
  account.endpoint === DEVELOPMENT_ENDPOINT && account.key === DEVELOPMENT_ACCOUNT_KEY;

/** The endpoint of the read-only copy. */
export const secondaryEndpoint = isPathStyle
  ? `${account.endpoint}-secondary`
  : account.endpoint.replace(account.name, `${account.name}-secondary`);

/** A connection string for the account in its explicit form, whatever form the environment used. */
export const connectionString = [
  `DefaultEndpointsProtocol=${isPlainHttp ? "http" : "https"}`,
  `AccountName=${account.name}`,
  `AccountKey=${account.key}`,
  `TableEndpoint=${account.endpoint}`,
].join(";");
