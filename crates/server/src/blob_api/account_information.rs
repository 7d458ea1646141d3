//! Get Account Information: what kind of account this is.

use crate::answer::Answer;
use crate::headers::AnswerHeader;

/// The one kind of account that there is here: general purpose, kept on this machine, without directories.
pub(super) fn account_information() -> Answer {
    Answer::empty(200)
        .with(AnswerHeader::SkuName, "Standard_LRS")
        .with(AnswerHeader::AccountKind, "StorageV2")
        .with(AnswerHeader::IsHnsEnabled, "false")
}
