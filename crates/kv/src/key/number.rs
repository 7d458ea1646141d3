//! Numbers of one to nine bytes that sort as numbers.

/// Numbers below this are one byte, themselves.
const ONE_BYTE_BOUND: u8 = 0xf8;

pub(super) fn encode(into: &mut Vec<u8>, value: u64) {
    match u8::try_from(value) {
        Ok(byte) if byte < ONE_BYTE_BOUND => into.push(byte),
        _ => {
            let bytes = value.to_be_bytes();
            let zeros = value.leading_zeros() as usize / 8;
            let length = u8::try_from(bytes.len() - zeros).expect("a u64 has at most eight bytes");
            into.push(ONE_BYTE_BOUND - 1 + length);
            into.extend_from_slice(&bytes[zeros..]);
        }
    }
}

/// Returns the number and its length, unless the bytes are not a number or not its shortest form.
pub(super) fn decode(from: &[u8]) -> Option<(u64, usize)> {
    let (&first, rest) = from.split_first()?;
    if first < ONE_BYTE_BOUND {
        return Some((first.into(), 1));
    }
    let length = usize::from(first - ONE_BYTE_BOUND) + 1;
    let digits = rest.get(..length)?;
    let value = digits.iter().fold(0, |value: u64, &digit| value << 8 | u64::from(digit));
    let shortest = if length == 1 { digits[0] >= ONE_BYTE_BOUND } else { digits[0] != 0 };
    shortest.then_some((value, 1 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(value: u64) -> Vec<u8> {
        let mut bytes = vec![];
        encode(&mut bytes, value);
        bytes
    }

    /// Both sides of every place where the length changes, and a random crowd.
    fn samples() -> Vec<u64> {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut samples: Vec<u64> = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]).collect();
        samples.extend([246, 247, 248, 249, u64::MAX - 1, u64::MAX]);
        samples.extend((0..1_000).map(|_| rng.u64(..) >> rng.u32(..64)));
        samples
    }

    #[test]
    fn numbers_come_back_and_sort_as_numbers() {
        for a in samples() {
            assert_eq!(decode(&encoded(a)), Some((a, encoded(a).len())));
            for b in samples().into_iter().step_by(7) {
                assert_eq!(encoded(a).cmp(&encoded(b)), a.cmp(&b), "{a} and {b}");
            }
        }
    }

    #[test]
    fn small_numbers_are_short() {
        assert_eq!(encoded(247), [247]);
        assert_eq!(encoded(248), [0xf8, 248]);
        assert_eq!(encoded(u64::MAX).len(), 9);
    }

    #[test]
    fn longer_forms_and_cut_ones_are_refused() {
        for bytes in [&[][..], &[0xf8], &[0xf8, 247], &[0xf9, 0, 248], &[0xff, 1, 2, 3]] {
            assert_eq!(decode(bytes), None, "{bytes:?}");
        }
    }
}
