//! The errors of the blobs of a page, as one error of their container.

use super::copy_error::CopyError;

/// Blobs whose errors are kept. The others are counted.
const KEPT_MAX: usize = 10;

#[derive(Debug, Default)]
pub(super) struct BlobErrors {
    kept: Vec<String>,
    more: u64,
    is_transient: bool,
}

impl BlobErrors {
    pub(super) fn add(&mut self, blob: &str, error: &CopyError) {
        self.is_transient |= error.is_transient;
        match self.kept.len() {
            ..KEPT_MAX => self.kept.push(format!("{blob}: {}", error.message)),
            KEPT_MAX.. => self.more += 1,
        }
    }

    /// Returns all errors as one, which is transient if any of them is.
    pub(super) fn into_result(self) -> Result<(), CopyError> {
        let Self { mut kept, more, is_transient } = self;
        if more > 0 {
            kept.push(format!("and {more} more blobs"));
        }
        let message = match kept.as_slice() {
            [] => return Ok(()),
            [only] => only.clone(),
            several => format!("several blobs failed:\n    {}", several.join("\n    ")),
        };
        Err(CopyError { message, is_transient })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_errors_are_shown_and_the_others_counted() {
        let mut errors = BlobErrors::default();
        assert!(BlobErrors::default().into_result().is_ok());
        for number in 0..KEPT_MAX + 2 {
            errors.add(&format!("b{number}"), &CopyError { message: "no".to_owned(), is_transient: number == 11 });
        }
        let error = errors.into_result().unwrap_err();
        assert!(error.is_transient, "the last one is");
        assert!(error.message.contains("\n    b9: no\n    and 2 more blobs"), "{}", error.message);
        let mut one = BlobErrors::default();
        one.add("b", &CopyError { message: "no".to_owned(), is_transient: false });
        assert_eq!(one.into_result().unwrap_err().message, "b: no");
    }
}
