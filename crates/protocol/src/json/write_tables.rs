//! The table resource as JSON at the three metadata levels.

use super::text::append_json_string;
use crate::MetadataLevel;

/// Appends the head of a listing, up to the opening bracket of its items.
pub fn append_tables_head(out: &mut Vec<u8>, base: &str, level: MetadataLevel) {
    out.push(b'{');
    if level != MetadataLevel::None {
        out.extend_from_slice(b"\"odata.metadata\":");
        append_json_string(out, &format!("{base}/$metadata#Tables"));
        out.push(b',');
    }
    out.extend_from_slice(b"\"value\":[");
}

/// Appends one table. `standalone` is one that is a whole body.
pub fn append_table(out: &mut Vec<u8>, base: &str, account: &str, name: &str, level: MetadataLevel, standalone: bool) {
    out.push(b'{');
    let mut member = |key: &str, value: &str| {
        append_json_string(out, key);
        out.push(b':');
        append_json_string(out, value);
        out.push(b',');
    };
    if standalone && level != MetadataLevel::None {
        member("odata.metadata", &format!("{base}/$metadata#Tables/@Element"));
    }
    if level == MetadataLevel::Full {
        member("odata.type", &format!("{account}.Tables"));
        member("odata.id", &format!("{base}/Tables('{name}')"));
        member("odata.editLink", &format!("Tables('{name}')"));
    }
    member("TableName", name);
    out.pop();
    out.push(b'}');
}
