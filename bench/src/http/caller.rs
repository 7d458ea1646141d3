//! Requests as a client of the Table service writes them: the usual headers, and a Shared Key signature over each request
//! or a SAS of the table in its query.

use tablerock_protocol::DateTime;
use tablerock_protocol::signing::{AccountKey, SharedKeyScheme, TablePermissions, TableRequestParts, TableSasTerms};

use crate::Result;
use crate::http::clock::{RequestDate, unix_seconds};

pub const ACCOUNT: &str = "devstoreaccount1";
/// The published key of the development account; no secret.
pub(crate) const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
/// A version that Azurite knows as well.
pub(crate) const VERSION: &str = "2020-12-06";
const SAS_SECONDS: u64 = 24 * 60 * 60;

/// How a request shows who sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    SharedKey,
    Sas,
}

impl Credential {
    pub fn name(self) -> &'static str {
        match self {
            Credential::SharedKey => "Shared Key",
            Credential::Sas => "SAS",
        }
    }
}

/// One request, before it is signed.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub method: &'static str,
    /// The path after the account, encoded: `/People(PartitionKey='p',RowKey='r')`.
    pub resource: &'a str,
    /// Without the question mark; empty if there is none.
    pub query: &'a str,
    /// More headers, each with its line end.
    pub headers: &'static str,
    /// Empty if there is no body.
    pub content_type: &'static str,
    pub body: &'a [u8],
}

impl<'a> Call<'a> {
    pub fn get(resource: &'a str, query: &'a str) -> Self {
        Self { method: "GET", resource, query, headers: "", content_type: "", body: b"" }
    }

    /// A write that asks for no content in its response, as most clients do.
    pub fn insert(resource: &'a str, entity: &'a [u8]) -> Self {
        let headers = "Prefer: return-no-content\r\n";
        Self { method: "POST", resource, query: "", headers, content_type: "application/json", body: entity }
    }
}

/// Writes the requests of one connection to one table.
#[derive(Debug)]
pub struct Caller {
    host: String,
    key: AccountKey,
    /// The token; empty for Shared Key.
    sas: String,
    date: RequestDate,
    path: String,
    string_to_sign: String,
}

impl Caller {
    pub fn new(port: u16, table: &str, credential: Credential) -> Result<Self> {
        let key = AccountKey::parse(KEY).map_err(|error| error.to_string())?;
        let sas = match credential {
            Credential::SharedKey => String::new(),
            Credential::Sas => table_sas(table, &key)?,
        };
        let (date, path, string_to_sign) = Default::default();
        Ok(Self { host: format!("127.0.0.1:{port}"), key, sas, date, path, string_to_sign })
    }

    /// Replaces what `out` holds by the request.
    pub fn write(&mut self, call: &Call<'_>, out: &mut Vec<u8>) {
        out.clear();
        self.path.clear();
        for part in ["/", ACCOUNT, call.resource] {
            self.path.push_str(part);
        }
        let queries = [call.query, self.sas.as_str()];
        let mut mark = "?";
        append(out, &[call.method, " ", &self.path]);
        for query in queries.into_iter().filter(|query| !query.is_empty()) {
            append(out, &[mark, query]);
            mark = "&";
        }
        append(out, &[" HTTP/1.1\r\nHost: ", &self.host, "\r\nUser-Agent: tablerock-bench\r\n"]);
        append(out, &["Accept: application/json;odata=minimalmetadata\r\nDataServiceVersion: 3.0\r\n"]);
        append(out, &["x-ms-version: ", VERSION, "\r\n", call.headers]);
        if self.sas.is_empty() {
            self.sign(call, out);
        }
        if !call.content_type.is_empty() {
            let length = call.body.len().to_string();
            append(out, &["Content-Type: ", call.content_type, "\r\nContent-Length: ", &length, "\r\n"]);
        }
        append(out, &["\r\n"]);
        out.extend_from_slice(call.body);
    }

    fn sign(&mut self, call: &Call<'_>, out: &mut Vec<u8>) {
        let date = self.date.now();
        let parts = TableRequestParts {
            method: call.method,
            content_md5: "",
            content_type: call.content_type,
            date,
            account: ACCOUNT,
            path: &self.path,
            comp: None,
        };
        self.string_to_sign.clear();
        parts.append_string_to_sign(SharedKeyScheme::SharedKey, &mut self.string_to_sign);
        let signature = self.key.sign(&self.string_to_sign);
        append(out, &["x-ms-date: ", date, "\r\nAuthorization: SharedKey ", ACCOUNT, ":", &signature, "\r\n"]);
    }
}

pub(crate) fn append(out: &mut Vec<u8>, parts: &[&str]) {
    parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
}

fn table_sas(table: &str, key: &AccountKey) -> Result<String> {
    let permissions = TablePermissions::parse("raud").expect("these are letters of table permissions");
    let expiry = DateTime::from_unix_seconds(unix_seconds() + SAS_SECONDS);
    let version = VERSION.parse().expect("the version is a date");
    let terms = TableSasTerms { version, ..TableSasTerms::new(table, permissions, expiry) };
    terms.sign(ACCOUNT, key).map(|sas| sas.to_query()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(credential: Credential, call: &Call<'_>) -> String {
        let mut out = b"left over".to_vec();
        Caller::new(1, "People", credential).unwrap().write(call, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_shared_key_request_is_signed_over_its_date_and_path() {
        let text = written(Credential::SharedKey, &Call::get("/People()", "$top=1"));
        assert!(text.starts_with("GET /devstoreaccount1/People()?$top=1 HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"));
        let date = text.split("x-ms-date: ").nth(1).and_then(|rest| rest.split("\r\n").next()).unwrap();
        let signed = format!("GET\n\n\n{date}\n/devstoreaccount1/devstoreaccount1/People()");
        let signature = AccountKey::parse(KEY).unwrap().sign(&signed);
        assert!(text.ends_with(&format!("Authorization: SharedKey devstoreaccount1:{signature}\r\n\r\n")), "{text}");
    }

    #[test]
    fn a_sas_stands_in_the_query_and_a_body_is_framed() {
        let text = written(Credential::Sas, &Call::insert("/People", b"{}"));
        assert!(text.starts_with("POST /devstoreaccount1/People?sv=2020-12-06&tn=People&"), "{text}");
        assert!(!text.contains("Authorization") && text.ends_with("Content-Length: 2\r\n\r\n{}"), "{text}");
    }
}
