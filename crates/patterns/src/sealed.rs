//! Traits that only the types of this crate implement, so that they can get more methods in any release.

use crate::copies_across_partitions::Copies;
use crate::listed_entities::{BlobLists, Lists, TableLists};

/// Is not exported, so that no other crate can implement a trait that requires it.
pub trait Sealed {}

impl Sealed for Copies {}
impl Sealed for TableLists {}
impl Sealed for BlobLists {}
impl<L> Sealed for Lists<L> {}
