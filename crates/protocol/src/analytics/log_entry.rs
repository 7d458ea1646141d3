//! One line of a log: thirty fields in version 1.0, thirty-eight in 2.0, parted by semicolons.

use std::fmt::Write as _;

use super::Authentication;
use crate::xml::AnalyticsVersion;
use crate::{DateTime, Service, ServiceVersion, Uuid, mask_signatures};

/// A request as an entry of a log. Unknown fields are empty.
#[derive(Debug, Clone)]
pub struct LogEntry<'a> {
    /// The time at which the request arrived.
    pub started: DateTime,
    /// The operation, as Storage Analytics names it.
    pub operation: &'a str,
    /// The outcome, as Storage Analytics names it.
    pub status: &'a str,
    /// The HTTP status of the response.
    pub http_status: u16,
    /// The milliseconds from the first byte of the request to the last byte of the response.
    pub end_to_end_ms: u64,
    /// The milliseconds that the server worked on the request.
    pub server_ms: u64,
    /// The kind of authentication.
    pub authentication: Authentication,
    /// The account that is addressed.
    pub account: &'a str,
    /// The service.
    pub service: Service,
    /// As it was sent. The line has no signature, whichever field it is in.
    pub url: &'a str,
    /// The resource, as a path with the account.
    pub object_key: &'a str,
    /// The id that the server gave the request.
    pub request_id: Uuid,
    /// The place of the operation within its request.
    pub operation_count: u32,
    /// The address of the client.
    pub client_address: std::net::SocketAddr,
    /// The version of the request.
    pub version: ServiceVersion,
    /// The bytes of the request's headers.
    pub request_header_bytes: u64,
    /// The bytes of the request's body.
    pub request_bytes: u64,
    /// The bytes of the response's headers.
    pub response_header_bytes: u64,
    /// The bytes of the response's body.
    pub response_bytes: u64,
    /// The `Content-Length` of the request.
    pub request_content_length: u64,
    /// The `Content-MD5` of the request.
    pub request_md5: &'a str,
    /// The MD5 that the server computed.
    pub server_md5: &'a str,
    /// The ETag of the response.
    pub etag: &'a str,
    /// In the form of HTTP headers.
    pub last_modified: &'a str,
    /// The conditional headers of the request.
    pub conditions: &'a str,
    /// The `User-Agent` of the request.
    pub user_agent: &'a str,
    /// The `Referer` of the request.
    pub referrer: &'a str,
    /// The `x-ms-client-request-id` of the request.
    pub client_request_id: &'a str,
}

impl LogEntry<'_> {
    /// The entry with its line feed.
    pub fn to_line(&self, version: AnalyticsVersion) -> String {
        let mut line = String::with_capacity(640);
        let authentication = match self.authentication {
            Authentication::Bearer if version == AnalyticsVersion::V2_0 => "bearer",
            Authentication::Authenticated | Authentication::Bearer => "authenticated",
            Authentication::Anonymous => "anonymous",
            Authentication::Sas => "sas",
        };
        let requester = if self.authentication == Authentication::Authenticated { self.account } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            "{};{};{};{};{};{};{};{authentication};{requester};{};{};",
            version.as_str(),
            self.started.to_seven_digits(),
            self.operation,
            self.status,
            self.http_status,
            self.end_to_end_ms,
            self.server_ms,
            self.account,
            self.service.name(),
        );
        push_quoted(&mut line, &mask_signatures(self.url));
        line.push(';');
        push_quoted(&mut line, &mask_signatures(self.object_key));
        let _ = write!(
            line,
            ";{};{};{};{};{};{};{};{};{}",
            self.request_id,
            self.operation_count,
            self.client_address,
            self.version,
            self.request_header_bytes,
            self.request_bytes,
            self.response_header_bytes,
            self.response_bytes,
            self.request_content_length,
        );
        for text in [self.request_md5, self.server_md5, self.etag] {
            line.push(';');
            push_quoted(&mut line, text);
        }
        line.push(';');
        push_long_date(&mut line, self.last_modified);
        for text in [self.conditions, self.user_agent, self.referrer, self.client_request_id] {
            line.push(';');
            push_quoted(&mut line, &mask_signatures(text));
        }
        if version == AnalyticsVersion::V2_0 {
            // These fields are about tokens, whose issuer is unknown.
            line.push_str(";;;;;;;;");
        }
        line.push('\n');
        line
    }
}

/// A field in quotes, in which nothing looks like the end of a field or of a line. An empty one has no quotes.
fn push_quoted(line: &mut String, text: &str) {
    if text.is_empty() {
        return;
    }
    line.push('"');
    for letter in text.chars() {
        match letter {
            '&' => line.push_str("&amp;"),
            '"' => line.push_str("&quot;"),
            '<' => line.push_str("&lt;"),
            '>' => line.push_str("&gt;"),
            '\n' => line.push_str("&#10;"),
            '\r' => line.push_str("&#13;"),
            other => line.push(other),
        }
    }
    line.push('"');
}

/// `Thu, 19 Jun 2014 22:58:10 GMT` as `Thursday, 19-Jun-14 22:58:10 GMT`.
fn push_long_date(line: &mut String, date: &str) {
    const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let mut pieces = date.split(' ');
    let mut piece = || pieces.next().unwrap_or_default();
    let (day_of_week, day, month, year, time) = (piece(), piece(), piece(), piece(), piece());
    let long = DAYS.into_iter().find(|long| day_of_week.strip_suffix(',').is_some_and(|short| long.starts_with(short)));
    if let (Some(long), Some(year)) = (long, year.get(2..)) {
        let _ = write!(line, "{long}, {day}-{month}-{year} {time} GMT");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> LogEntry<'static> {
        LogEntry {
            started: DateTime::parse("2022-01-03T20:35:13.0719766Z").unwrap(),
            operation: "GetBlob",
            status: "Success",
            http_status: 200,
            end_to_end_ms: 30,
            server_ms: 29,
            authentication: Authentication::Authenticated,
            account: "acct",
            service: Service::Blob,
            url: "http://127.0.0.1:10000/acct/c/b?a=1&b=\"2\"",
            object_key: "/acct/c/b",
            request_id: Uuid::from_bytes([0x11; 16]),
            operation_count: 0,
            client_address: ([127, 0, 0, 1], 53389).into(),
            version: "2018-03-28".parse().unwrap(),
            request_header_bytes: 601,
            request_bytes: 22,
            response_header_bytes: 339,
            response_bytes: 7,
            request_content_length: 22,
            request_md5: "",
            server_md5: "q==",
            etag: "\"0x8D1\"",
            last_modified: "Thu, 19 Jun 2014 22:58:10 GMT",
            conditions: "If-Match=\"0x8D1\";If-None-Match=*",
            user_agent: "agent/1.0\nforged",
            referrer: "",
            client_request_id: "id",
        }
    }

    /// Splits as a reader does: at semicolons outside quotes.
    fn fields(line: &str) -> Vec<String> {
        let (mut fields, mut is_quoted) = (vec![String::new()], false);
        for letter in line.trim_end_matches('\n').chars() {
            is_quoted ^= letter == '"';
            match letter {
                ';' if !is_quoted => fields.push(String::new()),
                other => fields.last_mut().unwrap().push(other),
            }
        }
        fields
    }

    #[test]
    fn an_entry_has_thirty_fields_whatever_the_client_sent() {
        let line = entry().to_line(AnalyticsVersion::V1_0);
        assert_eq!(
            line,
            "1.0;2022-01-03T20:35:13.0719766Z;GetBlob;Success;200;30;29;authenticated;acct;acct;blob;\
             \"http://127.0.0.1:10000/acct/c/b?a=1&amp;b=&quot;2&quot;\";\"/acct/c/b\";\
             11111111-1111-1111-1111-111111111111;0;127.0.0.1:53389;2018-03-28;601;22;339;7;22;;\"q==\";\
             \"&quot;0x8D1&quot;\";Thursday, 19-Jun-14 22:58:10 GMT;\
             \"If-Match=&quot;0x8D1&quot;;If-None-Match=*\";\"agent/1.0&#10;forged\";;\"id\"\n"
        );
        assert_eq!(fields(&line).len(), 30);
        let line = entry().to_line(AnalyticsVersion::V2_0);
        assert!(line.starts_with("2.0;") && line.ends_with("\"id\";;;;;;;;\n"), "{line}");
        assert_eq!(fields(&line).len(), 38);
    }

    #[test]
    fn a_signature_is_masked_and_its_holder_has_no_account() {
        let url = "http://h/acct/c/b?sv=2019&sig=secret%3D&se=1";
        let line = LogEntry { url, authentication: Authentication::Sas, ..entry() }.to_line(AnalyticsVersion::V1_0);
        assert!(line.contains("?sv=2019&amp;sig=XXXXX&amp;se=1\""), "{line}");
        assert!(!line.contains("secret"), "{line}");
        assert!(line.contains(";sas;;acct;blob;"), "{line}");
    }

    #[test]
    fn a_signature_is_masked_in_every_field_that_a_client_fills() {
        let hidden = "http://h/c/b?%73ig=secret";
        let entry = LogEntry { url: hidden, object_key: hidden, referrer: hidden, user_agent: hidden, ..entry() };
        let line = entry.to_line(AnalyticsVersion::V1_0);
        assert!(!line.contains("secret"), "{line}");
    }

    #[test]
    fn a_date_that_is_none_is_left_out() {
        let line = LogEntry { last_modified: "never", ..entry() }.to_line(AnalyticsVersion::V1_0);
        assert_eq!(fields(&line)[25], "");
    }
}
