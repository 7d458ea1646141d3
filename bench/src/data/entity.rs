//! The entity that all work is done with: 1 KB of JSON with properties of several types. Keys have a fixed width, so
//! that their order is that of their numbers.

/// The length of an entity as JSON, exactly.
pub const ENTITY_BYTES: usize = 1024;

/// The `Number` of the first entity; it has the same width in all of them.
pub const NUMBER_FIRST: u64 = 1_000_000_000;

/// Letters that hardly compress, of which each entity shows another part.
#[derive(Debug)]
pub struct Text(Vec<u8>);

impl Default for Text {
    fn default() -> Self {
        let mut random = fastrand::Rng::with_seed(1);
        Self((0..1 << 20).map(|_| random.alphanumeric() as u8).collect())
    }
}

impl Text {
    /// A part that belongs to this number.
    pub fn part(&self, number: u64, length: usize) -> &[u8] {
        // A multiplicative hash: neighbours in a table should share nothing.
        let at = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize % (self.0.len() - length);
        &self.0[at..at + length]
    }
}

/// The keys of an entity, as numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keys {
    pub partition: u64,
    pub row: u64,
}

/// `p0000042`
pub fn append_partition_key(out: &mut Vec<u8>, partition: u64) {
    out.push(b'p');
    append_digits::<7>(out, partition);
}

/// `r000000042`
pub fn append_row_key(out: &mut Vec<u8>, row: u64) {
    out.push(b'r');
    append_digits::<9>(out, row);
}

/// The JSON of an entity. `number` is unique in its table.
pub fn append_entity(out: &mut Vec<u8>, keys: Keys, number: u64, text: &Text) {
    let start = out.len();
    out.extend_from_slice(b"{\"PartitionKey\":\"");
    append_partition_key(out, keys.partition);
    out.extend_from_slice(b"\",\"RowKey\":\"");
    append_row_key(out, keys.row);
    out.extend_from_slice(b"\",\"Number\":");
    append_digits::<10>(out, NUMBER_FIRST + number);
    out.extend_from_slice(b",\"Amount\":1234.5,\"Open\":true,\"Text\":\"");
    let rest = ENTITY_BYTES - (out.len() - start) - 2;
    out.extend_from_slice(text.part(number, rest));
    out.extend_from_slice(b"\"}");
}

fn append_digits<const WIDTH: usize>(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [b'0'; WIDTH];
    for digit in digits.iter_mut().rev() {
        *digit += (number % 10) as u8;
        number /= 10;
    }
    out.extend_from_slice(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(partition: u64, row: u64, number: u64) -> String {
        let mut out = b"before".to_vec();
        append_entity(&mut out, Keys { partition, row }, number, &Text::default());
        String::from_utf8(out.split_off(6)).unwrap()
    }

    #[test]
    fn an_entity_has_one_kilobyte_and_its_keys() {
        let text = entity(42, 7, 9);
        assert_eq!(text.len(), ENTITY_BYTES);
        assert!(text.starts_with("{\"PartitionKey\":\"p0000042\",\"RowKey\":\"r000000007\",\"Number\":1000000009,"));
        assert!(text.ends_with("\"}"));
    }

    #[test]
    fn entities_share_no_text() {
        assert_ne!(entity(1, 1, 1)[200..], entity(1, 1, 2)[200..]);
    }
}
