//! Properties as small numbers: values that `eq` takes for equal have equal hashes.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};

use tablerock_protocol::Value;

/// Of a longer value only its length and this much of both ends are hashed. Most values are shorter, and two that
/// differ in the middle alone cost a look at their entities.
const END_BYTES: usize = 64;

/// Hashes properties, differently in each process: a client cannot make values collide.
#[derive(Debug, Default)]
pub(super) struct PropertyHasher(RandomState);

impl PropertyHasher {
    /// The hash of a property and its value.
    ///
    /// Whatever stored value a literal is equal to by the rules of a filter has the literal's hash. Numbers of all
    /// types may be equal, and are hashed as what they are compared as in the widest case, a Double; other types
    /// are equal to themselves only.
    pub(super) fn hash(&self, property: &str, value: &Value<'_>) -> u32 {
        let mut hasher = self.0.build_hasher();
        hasher.write(property.as_bytes());
        match value {
            Value::Int32(number) => put_number(&mut hasher, f64::from(*number)),
            Value::Int64(number) => put_number(&mut hasher, *number as f64),
            Value::Double(number) => put_number(&mut hasher, *number),
            Value::String(text) => put_bytes(&mut hasher, 1, text.as_bytes()),
            Value::Binary(bytes) => put_bytes(&mut hasher, 2, bytes),
            Value::Guid(guid) => put_bytes(&mut hasher, 3, guid.as_bytes()),
            Value::DateTime(date) => put_bytes(&mut hasher, 4, &date.ticks().to_be_bytes()),
            Value::Boolean(truth) => put_bytes(&mut hasher, 5, &[u8::from(*truth)]),
        }
        hasher.finish() as u32
    }
}

fn put_number(hasher: &mut DefaultHasher, number: f64) {
    // Zero has two signs and is one number. NaN equals nothing, so that its many forms need not agree.
    let number = if number == 0.0 { 0.0 } else { number };
    put_bytes(hasher, 0, &number.to_be_bytes());
}

/// The type and the length keep a property's name and its value apart.
fn put_bytes(hasher: &mut DefaultHasher, kind: u8, bytes: &[u8]) {
    hasher.write_u64(bytes.len() as u64 * 8 + u64::from(kind));
    if bytes.len() <= 2 * END_BYTES {
        return hasher.write(bytes);
    }
    hasher.write(&bytes[..END_BYTES]);
    hasher.write(&bytes[bytes.len() - END_BYTES..]);
}

#[cfg(test)]
mod tests {
    use tablerock_protocol::filter::{Comparison, Operator};
    use tablerock_protocol::{DateTime, Uuid};

    use super::*;

    fn values() -> Vec<Value<'static>> {
        let long = |middle: &str| format!("{}{middle}{}", "a".repeat(100), "b".repeat(100));
        let mut values = vec![
            Value::Boolean(false),
            Value::Boolean(true),
            Value::DateTime(DateTime::from_ticks(1)),
            Value::Guid(Uuid::from_bytes([0; 16])),
            Value::Guid(Uuid::from_bytes([1; 16])),
            Value::Binary(vec![].into()),
            Value::Binary(b"1".to_vec().into()),
            Value::Binary(vec![7; 5_000].into()),
        ];
        values.extend(["", "1", "a", "A", "é"].map(|text| Value::String(text.into())));
        values.extend(["x", "y", ""].map(|middle| Value::String(long(middle).into())));
        values.extend([i32::MIN, -1, 0, 1, 16_777_217, i32::MAX].map(Value::Int32));
        values.extend([i64::MIN, -1, 0, 1, 16_777_217, (1 << 53) + 1, (1 << 60) + 1, i64::MAX].map(Value::Int64));
        let doubles = [0.0, -0.0, 1.0, -1.0, 0.5, 16_777_217.0, 9_007_199_254_740_992.0, 9.223_372_036_854_776e18];
        values.extend(doubles.map(Value::Double));
        values.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE].map(Value::Double));
        values
    }

    #[test]
    fn whatever_equals_a_literal_has_its_hash() {
        let hasher = PropertyHasher::default();
        let mut equal = 0;
        for literal in values() {
            let comparison = Comparison { property: "p".into(), operator: Operator::Eq, literal };
            for stored in values().iter().filter(|stored| comparison.holds_for(stored)) {
                assert_eq!(
                    hasher.hash("p", stored),
                    hasher.hash("p", &comparison.literal),
                    "{stored:?} {comparison:?}"
                );
                equal += 1;
            }
        }
        assert!(equal > values().len(), "numbers of different types are among the equal ones");
    }

    #[test]
    fn name_type_and_value_each_tell_properties_apart() {
        let hasher = PropertyHasher::default();
        let text = |text: &'static str| Value::String(text.into());
        let properties = [
            ("p", text("1")),
            ("q", text("1")),
            ("p", text("2")),
            ("p1", text("")),
            ("p", Value::Int32(1)),
            ("p", Value::Binary(b"1".to_vec().into())),
            ("p", Value::Boolean(true)),
            ("p", Value::DateTime(DateTime::from_ticks(1))),
        ];
        let hashes: std::collections::HashSet<u32> =
            properties.iter().map(|(name, value)| hasher.hash(name, value)).collect();
        assert_eq!(hashes.len(), properties.len());
        let other = PropertyHasher::default();
        assert!(properties.iter().any(|(name, value)| hasher.hash(name, value) != other.hash(name, value)));
    }
}
