//! Numbers as the service writes them.

use std::fmt::Display;
use std::io::Write as _;

/// Doubles of this size are written without an exponent.
const PLAIN: std::ops::Range<f64> = 1e-4..1e15;

/// Appends a number in the way that it displays itself.
pub(super) fn append_integer(out: &mut Vec<u8>, number: impl Display) {
    write!(out, "{number}").expect("a vector takes whatever is written to it");
}

/// Appends a finite double so that a reader cannot take it for an integer: shortest digits that read back the
/// same, always with a point or an exponent, and the exponent in .NET's style (`1E+20`, `1.5E-07`).
pub(super) fn append_double(out: &mut Vec<u8>, number: f64) {
    debug_assert!(number.is_finite(), "the others are strings");
    if number == 0.0 || PLAIN.contains(&number.abs()) {
        write!(out, "{number:?}").expect("a vector takes whatever is written to it");
        return;
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').expect("the format has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is a small integer");
    out.extend_from_slice(digits.as_bytes());
    let sign = if exponent < 0 { '-' } else { '+' };
    out.extend_from_slice(format!("E{sign}{:02}", exponent.abs()).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_read_back_exactly_and_never_look_like_integers() {
        let cases = [
            (3.0, "3.0"),
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.5, "1.5"),
            (1e20, "1E+20"),
            (1.5e-7, "1.5E-07"),
            (1e15, "1E+15"),
            (123456789012345.0, "123456789012345.0"),
            (0.0001, "0.0001"),
            (0.00001, "1E-05"),
            (1e15f64.next_down(), "999999999999999.9"),
            (1e-4f64.next_down(), "9.999999999999999E-05"),
            (f64::MAX, "1.7976931348623157E+308"),
            (5e-324, "5E-324"),
            (-1e300, "-1E+300"),
        ];
        for (number, text) in cases {
            let mut out = Vec::new();
            append_double(&mut out, number);
            let written = String::from_utf8(out).unwrap();
            assert_eq!(written, text);
            assert_eq!(written.parse::<f64>().unwrap().to_bits(), number.to_bits());
        }
    }
}
