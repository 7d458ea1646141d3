//! Get Account Information.

use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

/// The one kind of account here: general purpose, locally redundant, without a hierarchical namespace.
pub(super) fn account_information() -> Reply {
    Reply::empty(200)
        .with(ResponseHeader::SkuName, "Standard_LRS")
        .with(ResponseHeader::AccountKind, "StorageV2")
        .with(ResponseHeader::IsHnsEnabled, "false")
}
