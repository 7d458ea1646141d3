//! What blobs hold: bytes that do not compress, and that differ from blob to blob without being made for each.

/// Blobs begin at so many places of the same bytes.
const PLACES: usize = 4096;
/// Places lie so far apart.
const STEP_BYTES: usize = 16;

/// The content of all blobs of one length.
#[derive(Debug)]
pub struct Content {
    bytes: Vec<u8>,
    length: usize,
}

impl Content {
    pub fn of(length: usize) -> Self {
        let mut bytes = vec![0; length + PLACES * STEP_BYTES];
        fastrand::Rng::with_seed(1).fill(&mut bytes);
        Self { bytes, length }
    }

    pub fn length(&self) -> usize {
        self.length
    }

    /// The content of the blob with this number.
    pub fn blob(&self, number: u64) -> &[u8] {
        let at = number as usize % PLACES * STEP_BYTES;
        &self.bytes[at..at + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_and_all_have_the_length() {
        let content = Content::of(100);
        assert_ne!(content.blob(1), content.blob(2));
        assert_eq!(content.blob(u64::MAX).len(), 100);
    }
}
