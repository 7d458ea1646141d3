//! Gzip without a name and a time in its header.

use std::io::Write as _;

use flate2::{Compression, GzBuilder};

use crate::Result;

/// Compresses bytes.
pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| format!("gzip: {error}");
    let mut writer = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    writer.write_all(bytes).map_err(failed)?;
    writer.finish().map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_header_has_no_time_and_no_system() {
        let compressed = compress(b"hello hello hello").unwrap();
        assert_eq!(compressed[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255]);
        let mut text = String::new();
        flate2::read::GzDecoder::new(&compressed[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello hello hello");
    }
}
