//! Get Account Information: what kind of account this is.

use crate::http::headers::ResponseHeader;
use crate::http::reply::Reply;

/// The one kind of account that there is here: general purpose, kept on this machine, without directories.
pub(super) fn account_information() -> Reply {
    Reply::empty(200)
        .with(ResponseHeader::SkuName, "Standard_LRS")
        .with(ResponseHeader::AccountKind, "StorageV2")
        .with(ResponseHeader::IsHnsEnabled, "false")
}
