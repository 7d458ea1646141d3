//! Shared access signatures: those of tables and queues (service SAS) and the account's.
//!
//! Both are plain structs whose fields are the query parameters by their wire names. An absent field is empty, which
//! is also how it enters the string to sign.

use crate::encode::percent;
use crate::sign::signature;
use crate::{Target, clock};

/// The version most clients sign with today.
pub const CURRENT: &str = "2019-02-02";

/// A signature for one table.
#[derive(Clone, Debug, Default)]
pub struct TableSas {
    pub sv: String,
    pub tn: String,
    pub sp: String,
    pub st: String,
    pub se: String,
    pub si: String,
    pub sip: String,
    pub spr: String,
    pub spk: String,
    pub srk: String,
    pub epk: String,
    pub erk: String,
}

impl TableSas {
    /// All of `permissions` on `table` for the next hour.
    pub fn new(table: &str, permissions: &str) -> Self {
        Self {
            sv: CURRENT.into(),
            tn: table.into(),
            sp: permissions.into(),
            se: clock::iso8601(clock::now() + clock::minutes(60)),
            ..Self::default()
        }
    }

    fn string_to_sign(&self, account: &str) -> String {
        // Versions are dates, so their text order is their order in time.
        let service = if self.sv.as_str() >= "2015-02-21" { "/table" } else { "" };
        let resource = format!("{service}/{account}/{}", self.tn.to_lowercase());
        let mut fields = vec![&self.sp, &self.st, &self.se, &resource, &self.si];
        if self.sv.as_str() >= "2015-04-05" {
            fields.extend([&self.sip, &self.spr]);
        }
        fields.extend([&self.sv, &self.spk, &self.srk, &self.epk, &self.erk]);
        fields.into_iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// The query parameters, signed.
    pub fn query(&self, target: &Target) -> String {
        self.query_signed_for(target, &target.account)
    }

    /// The query parameters, signed for the account of that name with the target's key.
    pub fn query_signed_for(&self, target: &Target, account: &str) -> String {
        let sig = signature(&target.key, &self.string_to_sign(account));
        parameters(&[
            ("sv", &self.sv),
            ("tn", &self.tn),
            ("sp", &self.sp),
            ("st", &self.st),
            ("se", &self.se),
            ("si", &self.si),
            ("sip", &self.sip),
            ("spr", &self.spr),
            ("spk", &self.spk),
            ("srk", &self.srk),
            ("epk", &self.epk),
            ("erk", &self.erk),
            ("sig", &sig),
        ])
    }
}

/// A signature for one queue.
#[derive(Clone, Debug, Default)]
pub struct QueueSas {
    pub sv: String,
    pub queue: String,
    pub sp: String,
    pub st: String,
    pub se: String,
    pub si: String,
    pub sip: String,
    pub spr: String,
}

impl QueueSas {
    /// All of `permissions` on `queue` for the next hour.
    pub fn new(queue: &str, permissions: &str) -> Self {
        Self {
            sv: CURRENT.into(),
            queue: queue.into(),
            sp: permissions.into(),
            se: clock::iso8601(clock::now() + clock::minutes(60)),
            ..Self::default()
        }
    }

    fn string_to_sign(&self, account: &str) -> String {
        let service = if self.sv.as_str() >= "2015-02-21" { "/queue" } else { "" };
        let resource = format!("{service}/{account}/{}", self.queue);
        let mut fields = vec![&self.sp, &self.st, &self.se, &resource, &self.si];
        if self.sv.as_str() >= "2015-04-05" {
            fields.extend([&self.sip, &self.spr]);
        }
        fields.push(&self.sv);
        fields.into_iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// The query parameters, signed.
    pub fn query(&self, target: &Target) -> String {
        let sig = signature(&target.key, &self.string_to_sign(&target.account));
        parameters(&[
            ("sv", &self.sv),
            ("sp", &self.sp),
            ("st", &self.st),
            ("se", &self.se),
            ("si", &self.si),
            ("sip", &self.sip),
            ("spr", &self.spr),
            ("sig", &sig),
        ])
    }
}

/// A signature for a container, or for one blob in it.
#[derive(Clone, Debug, Default)]
pub struct BlobSas {
    pub sv: String,
    pub container: String,
    pub blob: Option<String>,
    pub sp: String,
    pub se: String,
    pub spr: String,
    pub content_type: String,
    /// `sdd`: the blob is a directory so many levels deep.
    pub directory_depth: String,
}

impl BlobSas {
    /// All of `permissions` on a container for the next hour.
    pub fn of_container(container: &str, permissions: &str) -> Self {
        Self {
            sv: "2019-02-02".into(),
            container: container.into(),
            sp: permissions.into(),
            se: clock::iso8601(clock::now() + clock::minutes(60)),
            ..Self::default()
        }
    }

    /// All of `permissions` on a blob for the next hour.
    pub fn of_blob(container: &str, blob: &str, permissions: &str) -> Self {
        Self { blob: Some(blob.into()), ..Self::of_container(container, permissions) }
    }

    /// The query parameters, signed as versions from 2018-11-09 on do.
    pub fn query(&self, target: &Target) -> String {
        let sr = match (&self.blob, self.directory_depth.is_empty()) {
            (None, _) => "c",
            (Some(_), true) => "b",
            (Some(_), false) => "d",
        };
        let blob = self.blob.as_ref().map_or(String::new(), |blob| format!("/{blob}"));
        let resource = format!("/blob/{}/{}{blob}", target.account, self.container);
        let none = "";
        let mut fields = vec![
            &*self.sp, none, &*self.se, &*resource, none, none, &*self.spr, &*self.sv, sr, none, none, none, none, none,
        ];
        if self.sv.as_str() >= "2020-12-06" {
            // The encryption scope.
            fields.push(none);
        }
        fields.push(&*self.content_type);
        let sig = signature(&target.key, &fields.join("\n"));
        let signed = [("sv", &*self.sv), ("sr", sr), ("sp", &*self.sp), ("se", &*self.se), ("spr", &*self.spr)];
        let owned = signed.map(|(name, value)| (name, value.to_owned()));
        let all = owned
            .into_iter()
            .chain([("sdd", self.directory_depth.clone()), ("rsct", self.content_type.clone()), ("sig", sig)])
            .collect::<Vec<_>>();
        let borrowed: Vec<(&str, &str)> = all.iter().map(|(name, value)| (*name, value.as_str())).collect();
        parameters(&borrowed)
    }
}

/// A signature for the account.
#[derive(Clone, Debug, Default)]
pub struct AccountSas {
    pub sv: String,
    pub ss: String,
    pub srt: String,
    pub sp: String,
    pub st: String,
    pub se: String,
    pub sip: String,
    pub spr: String,
    pub ses: String,
}

impl AccountSas {
    /// All of `permissions` on those resource types of the Table service, for the next hour.
    pub fn new(resource_types: &str, permissions: &str) -> Self {
        Self {
            sv: CURRENT.into(),
            ss: "t".into(),
            srt: resource_types.into(),
            sp: permissions.into(),
            se: clock::iso8601(clock::now() + clock::minutes(60)),
            ..Self::default()
        }
    }

    fn string_to_sign(&self, account: &str) -> String {
        let mut text = format!("{account}\n");
        for field in [&self.sp, &self.ss, &self.srt, &self.st, &self.se, &self.sip, &self.spr, &self.sv] {
            text.push_str(field);
            text.push('\n');
        }
        if self.sv.as_str() >= "2020-12-06" {
            text.push_str(&self.ses);
            text.push('\n');
        }
        text
    }

    /// The query parameters, signed.
    pub fn query(&self, target: &Target) -> String {
        let sig = signature(&target.key, &self.string_to_sign(&target.account));
        parameters(&[
            ("sv", &self.sv),
            ("ss", &self.ss),
            ("srt", &self.srt),
            ("sp", &self.sp),
            ("st", &self.st),
            ("se", &self.se),
            ("sip", &self.sip),
            ("spr", &self.spr),
            ("ses", &self.ses),
            ("sig", &sig),
        ])
    }
}

fn parameters(fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| format!("{name}={}", percent(value))).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn development() -> Target {
        Target::parse("UseDevelopmentStorage=true").unwrap()
    }

    #[test]
    fn a_table_signature_matches_the_check_vector() {
        let sas = TableSas {
            se: "2030-01-01T00:00:00Z".into(),
            spk: "a".into(),
            epk: "m".into(),
            ..TableSas::new("People", "raud")
        };
        assert!(sas.query(&development()).ends_with(&percent("R004zC4XkPXD5dzUrHCWMS2OsWbmGRGPp6BINnzoZkc=")));
    }

    #[test]
    fn account_signatures_match_the_check_vectors() {
        let plain = AccountSas { se: "2030-01-01T00:00:00Z".into(), ..AccountSas::new("soc", "rwdlacup") };
        assert!(plain.query(&development()).ends_with(&percent("16CNuhjXXZfFgxWKnVlFYriufw6M3mWCahcc0KPe1l4=")));
        let scoped = AccountSas { sv: "2020-12-06".into(), srt: "sco".into(), spr: "https,http".into(), ..plain };
        assert!(scoped.query(&development()).ends_with(&percent("1P0zjg/LzEci4pw8r3ZDLGO4cIzwotoXrU0vezGOm6w=")));
    }
}
