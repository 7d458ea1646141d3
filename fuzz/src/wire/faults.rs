//! Framing as no client should send it.

use super::mutation::Dice;

const LONG_LINE_BYTES: usize = 100_000;
const MANY_HEADERS: usize = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// A second request follows before the response to the first.
    Pipelined,
    AbsoluteTarget,
    Chunked,
    BadChunkSize,
    ChunksCutShort,
    ChunkedWithLength,
    LengthTwice,
    LengthsThatDiffer,
    LengthTooLarge,
    LengthNegative,
    LongLine,
    LongTarget,
    ManyHeaders,
    BareLineFeeds,
    FoldedHeader,
    NulInHeader,
    CutShort,
    OldVersion,
    UnknownVersion,
    ExpectsContinue,
    UpgradeAsked,
    NoHost,
    TwoHosts,
    FlippedBytes,
}

const FAULTS: [Fault; 24] = [
    Fault::Pipelined,
    Fault::AbsoluteTarget,
    Fault::Chunked,
    Fault::BadChunkSize,
    Fault::ChunksCutShort,
    Fault::ChunkedWithLength,
    Fault::LengthTwice,
    Fault::LengthsThatDiffer,
    Fault::LengthTooLarge,
    Fault::LengthNegative,
    Fault::LongLine,
    Fault::LongTarget,
    Fault::ManyHeaders,
    Fault::BareLineFeeds,
    Fault::FoldedHeader,
    Fault::NulInHeader,
    Fault::CutShort,
    Fault::OldVersion,
    Fault::UnknownVersion,
    Fault::ExpectsContinue,
    Fault::UpgradeAsked,
    Fault::NoHost,
    Fault::TwoHosts,
    Fault::FlippedBytes,
];

impl Fault {
    /// Half of all requests have none.
    pub(super) fn choose(dice: &mut Dice) -> Self {
        if dice.below(2) == 0 { Self::None } else { FAULTS[dice.below(FAULTS.len())] }
    }

    /// Whether the server and we agree where a request ends, so that the connection can stay.
    pub(super) fn keeps_framing(self) -> bool {
        matches!(self, Self::None | Self::Pipelined)
    }

    pub(super) fn responses(self) -> usize {
        if self == Self::Pipelined { 2 } else { 1 }
    }

    /// The bytes of a request with the fault in them.
    pub(super) fn apply(self, wire: &[u8], dice: &mut Dice) -> Vec<u8> {
        let head_end = wire.windows(4).position(|window| window == b"\r\n\r\n").map_or(wire.len(), |at| at + 2);
        let (head, body) = (&wire[..head_end], wire.get(head_end + 2..).unwrap_or_default());
        let with_header = |line: &str| [head, line.as_bytes(), b"\r\n\r\n", body].concat();
        let without_length = || without(head, "content-length:");
        let chunked = |chunks: &[u8]| [&without_length(), &b"Transfer-Encoding: chunked\r\n\r\n"[..], chunks].concat();
        let chunk = [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat();
        match self {
            Self::None => wire.to_vec(),
            Self::Pipelined => [wire, wire].concat(),
            Self::AbsoluteTarget => replaced(wire, " /", " http://127.0.0.1/"),
            Self::Chunked if body.is_empty() => chunked(b"0\r\n\r\n"),
            Self::Chunked => chunked(&[&chunk, &b"0\r\n\r\n"[..]].concat()),
            Self::BadChunkSize => {
                let sizes = ["zz", "-1", "ffffffffffffffffff", "7fffffffffffffff", "", "1;a=\"", "0x5", " 5"];
                chunked([sizes[dice.below(sizes.len())].as_bytes(), b"\r\nhello\r\n0\r\n\r\n"].concat().as_slice())
            }
            Self::ChunksCutShort => chunked(&chunk[..dice.below(chunk.len())]),
            Self::ChunkedWithLength => with_header("Transfer-Encoding: chunked"),
            Self::LengthTwice => with_header(&format!("Content-Length: {}", body.len())),
            Self::LengthsThatDiffer => with_header(&format!("Content-Length: {}", body.len() + 1)),
            Self::LengthTooLarge => {
                let lengths = ["99999999999999999999999", "18446744073709551615", "9223372036854775807", "1000000"];
                let line = format!("Content-Length: {}\r\n\r\n", lengths[dice.below(lengths.len())]);
                [&without_length(), line.as_bytes(), body].concat()
            }
            Self::LengthNegative => [&without_length(), &b"Content-Length: -1\r\n\r\n"[..], body].concat(),
            Self::LongLine => with_header(&format!("x-ms-meta-long: {}", "a".repeat(LONG_LINE_BYTES))),
            Self::LongTarget => replaced(wire, " HTTP/1.1", &format!("{} HTTP/1.1", "a".repeat(LONG_LINE_BYTES))),
            Self::ManyHeaders => {
                let lines: Vec<String> = (0..MANY_HEADERS).map(|number| format!("x-ms-meta-a{number}: 1")).collect();
                with_header(&lines.join("\r\n"))
            }
            Self::BareLineFeeds => {
                [String::from_utf8_lossy(head).replace("\r\n", "\n").as_bytes(), b"\n", body].concat()
            }
            Self::FoldedHeader => with_header("x-ms-meta-a: 1\r\n\t2"),
            Self::NulInHeader => with_header("x-ms-meta-a: \0"),
            Self::CutShort => wire[..dice.below(wire.len())].to_vec(),
            Self::OldVersion => replaced(wire, " HTTP/1.1", " HTTP/1.0"),
            Self::UnknownVersion => replaced(wire, " HTTP/1.1", " HTTP/3.7"),
            Self::ExpectsContinue => with_header("Expect: 100-continue"),
            Self::UpgradeAsked => {
                with_header("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk")
            }
            Self::NoHost => [&without(head, "host:"), &b"\r\n"[..], body].concat(),
            Self::TwoHosts => with_header("Host: acct.blob.localhost"),
            Self::FlippedBytes => {
                let mut flipped = wire.to_vec();
                for _ in 0..=dice.below(4) {
                    let at = dice.below(flipped.len());
                    flipped[at] ^= 1 << dice.below(8);
                }
                flipped
            }
        }
    }
}

/// The head without the lines that begin so.
fn without(head: &[u8], name: &str) -> Vec<u8> {
    let lines = head.split_inclusive(|&byte| byte == b'\n');
    let kept = lines.filter(|line| !line.to_ascii_lowercase().starts_with(name.as_bytes()));
    kept.collect::<Vec<_>>().concat()
}

/// The bytes with the first occurrence of a text replaced.
fn replaced(wire: &[u8], from: &str, to: &str) -> Vec<u8> {
    let Some(at) = wire.windows(from.len()).position(|window| window == from.as_bytes()) else { return wire.to_vec() };
    [&wire[..at], to.as_bytes(), &wire[at + from.len()..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRE: &[u8] = b"PUT /acct/c/b HTTP/1.1\r\nHost: h\r\ncontent-length: 5\r\n\r\nhello";

    fn applied(fault: Fault) -> String {
        String::from_utf8(fault.apply(WIRE, &mut Dice::new(1))).unwrap()
    }

    #[test]
    fn a_fault_is_where_it_should_be_and_nowhere_else() {
        assert_eq!(applied(Fault::None).as_bytes(), WIRE);
        let chunks = "PUT /acct/c/b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
        assert_eq!(applied(Fault::Chunked), chunks);
        let twice = "PUT /acct/c/b HTTP/1.1\r\nHost: h\r\ncontent-length: 5\r\nContent-Length: 6\r\n\r\nhello";
        assert_eq!(applied(Fault::LengthsThatDiffer), twice);
        assert!(applied(Fault::AbsoluteTarget).starts_with("PUT http://127.0.0.1/acct/c/b HTTP/1.1\r\n"));
        assert_eq!(applied(Fault::NoHost), "PUT /acct/c/b HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello");
    }
}
