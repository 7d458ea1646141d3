//! The account that a request addresses: path style or host style, primary or secondary.

use std::net::IpAddr;

use tablerock_protocol::{ErrorCode, SECONDARY_SUFFIX, ServiceError};

use crate::accounts::{Account, Accounts};

/// The root of a service as the client addressed it.
#[derive(Debug)]
pub(crate) struct Endpoint<'a> {
    pub(crate) account: &'a Account,
    pub(crate) is_secondary: bool,
    /// Scheme, authority and, in path style, the account; no trailing slash.
    pub(crate) base: String,
    /// The segment of the path that belongs to the root; none in host style.
    root: Option<&'a str>,
}

impl<'a> Endpoint<'a> {
    /// Finds the account. With a host name whose first label is one of our accounts it is host style, as on
    /// Azure; otherwise the first segment of the path names the account, as with the emulators.
    pub(crate) fn identify(
        accounts: &'a Accounts,
        host_style: bool,
        scheme: &str,
        host: Option<&str>,
        path: &'a str,
    ) -> Result<Self, ServiceError> {
        let host = host.filter(|host| !host.is_empty()).ok_or(ErrorCode::HostInformationNotPresent)?;
        if host_style && let Some((account, is_secondary)) = account_of_host(accounts, host) {
            return Ok(Self { account, is_secondary, base: [scheme, "://", host].concat(), root: None });
        }
        let segment = path.trim_start_matches('/').split('/').next().unwrap_or_default();
        let (account, is_secondary) = find(accounts, segment).ok_or(ErrorCode::ResourceNotFound)?;
        let base = [scheme, "://", host, "/", segment].concat();
        Ok(Self { account, is_secondary, base, root: Some(segment) })
    }

    /// The path below the root, still percent-encoded. Paths inside a batch may leave the root out.
    pub(crate) fn below_root<'p>(&self, path: &'p str) -> &'p str {
        let trimmed = path.trim_start_matches('/');
        match self.root.and_then(|account| trimmed.strip_prefix(account)) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => self.without_repeated_account(rest),
            _ => path,
        }
    }

    /// Python's clients put the primary's path behind the secondary's root: `/acct-secondary/acct/…`.
    fn without_repeated_account<'p>(&self, below: &'p str) -> &'p str {
        let again = below.strip_prefix('/').and_then(|rest| rest.strip_prefix(self.account.name.as_str()));
        match again {
            Some(rest) if self.is_secondary && rest.starts_with('/') => rest,
            _ => below,
        }
    }

    /// The same for the root itself, where only the query distinguishes it from a table with the account's name.
    pub(crate) fn is_repeated_root(&self, below: &str) -> bool {
        self.is_secondary && below.strip_prefix('/') == Some(self.account.name.as_str())
    }
}

fn account_of_host<'a>(accounts: &'a Accounts, host: &str) -> Option<(&'a Account, bool)> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let (label, _) = name.split_once('.')?;
    // An account may be named 127, but an IP address names none.
    find(accounts, label).filter(|_| name.parse::<IpAddr>().is_err())
}

fn find<'a>(accounts: &'a Accounts, name: &str) -> Option<(&'a Account, bool)> {
    let secondary = || name.strip_suffix(SECONDARY_SUFFIX).and_then(|primary| accounts.find(primary));
    accounts.find(name).map(|account| (account, false)).or_else(|| secondary().map(|account| (account, true)))
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::AccountName;

    use super::*;

    fn accounts() -> Accounts {
        let name = AccountName::parse("acct").unwrap();
        Accounts::new([Account { name, keys: vec![] }])
    }

    #[test]
    fn both_styles_find_the_account_and_the_rest_of_the_path() {
        let accounts = accounts();
        let cases = [
            ("127.0.0.1:10002", "/acct/Tables", "http://127.0.0.1:10002/acct", "/Tables", false),
            ("127.0.0.1:10002", "/acct-secondary/T()", "http://127.0.0.1:10002/acct-secondary", "/T()", true),
            ("acct.table.localhost:10002", "/Tables", "http://acct.table.localhost:10002", "/Tables", false),
            ("acct-secondary.table.example.com", "/", "http://acct-secondary.table.example.com", "/", true),
            ("tables.example.com", "/acct//T", "http://tables.example.com/acct", "//T", false),
            ("127.0.0.1", "/acct", "http://127.0.0.1/acct", "", false),
        ];
        for (host, path, base, below, is_secondary) in cases {
            let endpoint = Endpoint::identify(&accounts, true, "http", Some(host), path).unwrap();
            assert_eq!((endpoint.base.as_str(), endpoint.is_secondary), (base, is_secondary), "{host}{path}");
            assert_eq!(endpoint.below_root(path), below, "{host}{path}");
        }
    }

    #[test]
    fn an_unknown_account_and_a_missing_host_have_their_errors() {
        let accounts = accounts();
        let code = |host, path| Endpoint::identify(&accounts, true, "http", host, path).unwrap_err().code;
        assert_eq!(code(Some("127.0.0.1"), "/other/Tables"), ErrorCode::ResourceNotFound);
        assert_eq!(code(Some("127.0.0.1"), "/acctx/Tables"), ErrorCode::ResourceNotFound);
        assert_eq!(code(None, "/acct"), ErrorCode::HostInformationNotPresent);
        let path_only = Endpoint::identify(&accounts, false, "http", Some("acct.example.com"), "/Tables");
        assert_eq!(path_only.unwrap_err().code, ErrorCode::ResourceNotFound);
    }
}
