//! The archive around a Debian package: `ar`, with short names only.

/// Writes an archive of named members, in this order.
pub(crate) fn write(members: &[(&str, &[u8])], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let header = format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", bytes.len());
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        // Members begin at even positions.
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_sixty_bytes_and_members_an_even_length() {
        let archive = write(&[("a", b"one"), ("b", b"four")], 7);
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 4);
        assert!(archive[8..].starts_with(b"a               7           0     0     100644  3         `\none\n"));
    }
}
