//! Access: who sends a request, and whether the operation is allowed.
//!
//! [`admit`] is the only gate. A plain request, a part of `$batch`, a part of a blob batch and the source of a copy all
//! pass through it; they differ in the [`Claim`] that they make.

mod admit;
mod caller;
mod credentials;
mod policies;
mod service_sas;
mod unserved;
#[cfg(test)]
mod verdicts;

pub(crate) use admit::{Admitted, Claim, Rejection, Request, Stage, Target, admit, check_writable, requests};
pub(crate) use caller::Caller;
pub(crate) use credentials::Credentials;
