//! How a case says what went wrong.

use std::fmt::{Debug, Display};

/// Why a case did not pass.
#[derive(Debug)]
pub struct Failure {
    pub message: String,
    /// The target cannot be asked (no secondary, TLS only …); this is not a finding about it.
    pub skipped: bool,
}

/// The result of a case, or of a step of one.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), skipped: false }
    }

    pub fn skipped(reason: impl Into<String>) -> Self {
        Self { message: reason.into(), skipped: true }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(format!("the connection failed: {error}"))
    }
}

/// Fails unless both are equal; `what` names the thing compared.
#[expect(clippy::needless_pass_by_value, reason = "cases compare temporaries, and read better without borrowing them")]
pub fn equal<T: PartialEq<U> + Debug, U: Debug>(what: impl Display, got: T, expected: U) -> Outcome {
    if got == expected {
        return Ok(());
    }
    Err(Failure::new(format!("{what}: expected {expected:?}, got {got:?}")))
}

/// Fails with a sentence unless the condition holds.
pub fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(Failure::new(otherwise())) }
}

/// The head of a long text, for a message of one line.
pub fn shorten(text: &str) -> String {
    const SHOWN_CHARS: usize = 400;
    let line = text.replace('\r', "\\r").replace('\n', "\\n");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
