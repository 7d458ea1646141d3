//! Pop receipts: what a client shows to update or delete a message that it was given.
//!
//! Opaque to clients. Ours has the location of the message and its version, so that a receipt
//! leads straight to its message, and one that is out of date leads nowhere.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A receipt for one version of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PopReceipt {
    /// When the message becomes visible, in ticks.
    pub visible: u64,
    /// The message's number in its queue.
    pub number: u64,
    /// How often the message had been changed.
    pub changes: u32,
}

/// The text is not the form of any receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PopReceiptSyntax;

impl PopReceipt {
    /// Parses the text of a receipt.
    pub fn parse(text: &str) -> Result<Self, PopReceiptSyntax> {
        let bytes = STANDARD.decode(text).map_err(|_| PopReceiptSyntax)?;
        let (visible, rest) = bytes.split_first_chunk().ok_or(PopReceiptSyntax)?;
        let (number, rest) = rest.split_first_chunk().ok_or(PopReceiptSyntax)?;
        let changes = rest.try_into().map_err(|_| PopReceiptSyntax)?;
        Ok(Self {
            visible: u64::from_be_bytes(*visible),
            number: u64::from_be_bytes(*number),
            changes: u32::from_be_bytes(changes),
        })
    }
}

impl fmt::Display for PopReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&self.visible.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..].copy_from_slice(&self.changes.to_be_bytes());
        f.write_str(&STANDARD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_comes_back_from_its_text() {
        let receipt = PopReceipt { visible: 638_000_000_000_000_000, number: 7, changes: u32::MAX };
        assert_eq!(receipt.to_string().len(), 28);
        assert_eq!(PopReceipt::parse(&receipt.to_string()), Ok(receipt));
    }

    #[test]
    fn what_has_not_the_form_of_a_receipt_is_refused() {
        let long = STANDARD.encode([0; 21]);
        for text in ["", "AA==", "not base64!", &STANDARD.encode([0; 19]), &long] {
            assert_eq!(PopReceipt::parse(text), Err(PopReceiptSyntax), "{text}");
        }
    }
}
