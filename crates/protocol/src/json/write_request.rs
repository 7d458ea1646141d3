//! The bodies that a client sends.

use super::text::append_json_string;
use super::write::{EntityShape, Location, Object};
use crate::{MetadataLevel, PARTITION_KEY, Property, ROW_KEY, Select};

/// Appends an entity as the body of a write: its keys, and its properties with every type said that JSON does not
/// show by itself.
pub fn append_entity_body(out: &mut Vec<u8>, partition_key: &str, row_key: &str, properties: &[Property<'_>]) {
    let location = Location { base: "", account: "", table: "" };
    let shape = EntityShape { location, level: MetadataLevel::Minimal, select: &Select::default() };
    let mut object = Object { out, shape: &shape, is_request: true, empty: true };
    object.out.push(b'{');
    for (name, key) in [(PARTITION_KEY, partition_key), (ROW_KEY, row_key)] {
        object.own_member(name);
        append_json_string(object.out, key);
    }
    properties.iter().for_each(|property| object.property(&property.name, &property.value));
    out.push(b'}');
}

/// Appends the body of Create Table.
pub fn append_create_table(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b"{\"TableName\":");
    append_json_string(out, name);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{parse_entity, parse_table_name};
    use crate::{DateTime, Uuid, Value};

    #[test]
    fn what_is_sent_is_what_the_other_side_reads() {
        let values = [
            Value::String("é \"quoted\"".into()),
            Value::Int32(-7),
            Value::Int64(i64::MAX),
            Value::Double(3.0),
            Value::Double(f64::NEG_INFINITY),
            Value::Boolean(true),
            Value::DateTime(DateTime::parse("2020-01-02T03:04:05.1234567Z").unwrap()),
            Value::Guid(Uuid::from_u128(7)),
            Value::Binary(vec![0, 255].into()),
        ];
        let named = values.into_iter().enumerate();
        let properties: Vec<_> =
            named.map(|(place, value)| Property { name: format!("P{place}").into(), value }).collect();
        let mut body = Vec::new();
        append_entity_body(&mut body, "o'b", "r", &properties);
        let read = parse_entity(&body).unwrap();
        assert_eq!((read.partition_key.as_deref(), read.row_key.as_deref()), (Some("o'b"), Some("r")));
        assert_eq!(read.properties, properties);
        assert!(String::from_utf8(body).unwrap().contains("\"P3@odata.type\":\"Edm.Double\",\"P3\":3.0"));
    }

    #[test]
    fn a_table_is_created_by_its_name() {
        let mut body = Vec::new();
        append_create_table(&mut body, "People");
        assert_eq!(parse_table_name(&body).unwrap(), "People");
    }
}
