//! Reads a dump of callgrind: the instructions of a span of time, with hashing counted apart.
//!
//! Valgrind offers no SHA instructions, so that hash functions take their portable code, which costs several times as
//! much as on the processor itself. They would hide the rest of the path.

use std::ops::AddAssign;

use crate::Result;

/// Parts of the symbols of hash functions. A checksum of the storage engine (xxh3) is not among them: it needs no
/// special instructions and costs the same under valgrind.
const HASHING: [&str; 9] =
    ["sha2::", "sha1::", "md5::", "md_5::", "hmac::", "digest::", "block_buffer::", "crc64fast", "crc32fast"];

/// Instructions retired in user space, by all threads together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Profile {
    /// Everything but hashing.
    pub own: u64,
    /// Hash functions with all that they call.
    pub hashing: u64,
}

impl AddAssign for Profile {
    fn add_assign(&mut self, other: Self) {
        self.own += other.own;
        self.hashing += other.hashing;
    }
}

impl Profile {
    /// Reads a dump that was written with `--compress-strings=no --compress-pos=no`.
    ///
    /// Each function has lines of its own cost, and for each function that it calls a line with the cost of the calls,
    /// all that happens inside included. Hashing is the sum of calls from other functions into hash functions.
    pub fn parse(dump: &str) -> Result<Self> {
        let (mut total, mut hashing) = (0, 0);
        let (mut is_hashing, mut calls_hashing, mut is_call) = (false, false, false);
        for line in dump.lines() {
            if let Some(function) = line.strip_prefix("fn=") {
                is_hashing = is_hash_function(function);
            } else if let Some(function) = line.strip_prefix("cfn=") {
                calls_hashing = is_hash_function(function);
            } else if line.starts_with("calls=") {
                is_call = true;
            } else if line.starts_with(|first: char| first.is_ascii_digit()) {
                let cost = cost_of(line).ok_or_else(|| format!("callgrind wrote a line without a cost: {line}"))?;
                match std::mem::take(&mut is_call) {
                    true if calls_hashing && !is_hashing => hashing += cost,
                    true => {}
                    false => total += cost,
                }
            }
        }
        if total == 0 {
            return Err("callgrind counted no instruction".to_owned());
        }
        Ok(Self { own: total.saturating_sub(hashing), hashing })
    }
}

fn is_hash_function(symbol: &str) -> bool {
    HASHING.iter().any(|part| symbol.contains(part))
}

/// The last number of `line cost`.
fn cost_of(line: &str) -> Option<u64> {
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
# callgrind format
version: 1
positions: line
events: Ir
summary: 1130

ob=/tablerock
fl=???
fn=tablerock_server::handle
0 100
cob=/tablerock
cfn=hmac::simple::sign
calls=1 0
0 1000
cfn=tablerock_server::respond
calls=2 0
0 30

fn=hmac::simple::sign
0 200
cfn=sha2::sha256::compress
calls=4 0
0 700
cfn=memcpy
calls=2 0
0 100

fn=sha2::sha256::compress
0 700

fn=memcpy
0 100

fn=tablerock_server::respond
0 30
";

    #[test]
    fn hashing_is_all_that_hash_functions_do_and_is_counted_once() {
        assert_eq!(Profile::parse(DUMP), Ok(Profile { own: 130, hashing: 1000 }));
    }

    #[test]
    fn a_dump_without_costs_is_an_error() {
        assert!(Profile::parse("# callgrind format\nevents: Ir\n").is_err());
        assert!(Profile::parse("fn=a\n0 x\n").unwrap_err().contains("0 x"));
    }
}
