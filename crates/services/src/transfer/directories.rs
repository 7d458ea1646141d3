//! The rows that make an account's tables, queues and containers visible in the new store: checked, written, and taken away.

use tablerock_kv::{Bytes, Error, Result, Store, Transaction};

use super::named_objects::{NamedObject, named_objects};
use super::renumbering::Renumbering;
use crate::namespace::{Namespace, id_of_row, row_with_id};

/// Rows of a directory that are changed at once.
const ROWS_MAX: usize = 500;

/// Fails if the account has anything in the new store that this copy has not brought there.
pub(super) async fn check_free(to: &Store, account: &str, ours: &Renumbering) -> Result<()> {
    for kind in Namespace::ALL {
        let found = named_objects(to, account, kind).await?;
        if let Some(other) = found.iter().find(|object| !ours.is_new_id(kind, object.id)) {
            return Err(in_the_way(account, &other.key));
        }
    }
    Ok(())
}

/// Writes the rows of all copied objects. A row that another writer has put there meanwhile is not replaced.
pub(super) async fn publish(to: &Store, account: &str, ours: &Renumbering, all: &[NamedObject]) -> Result<()> {
    // All at first: what is in the way of one shall be found before any other is to be seen.
    check_free(to, account, ours).await?;
    for kind in Namespace::ALL {
        let of_kind = all.iter().filter(|object| object.kind == kind);
        let rows = of_kind.map(|object| Ok((object.key.clone(), row_with_id(&object.row, ours.id(kind, object.id)?))));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        for rows in rows.chunks(ROWS_MAX) {
            let put = |tx: &mut Transaction| {
                for (key, row) in rows {
                    let is_free = match tx.get(key) {
                        Some(found) => ours.is_new_id(kind, id_of_row(found)?),
                        None => true,
                    };
                    if !is_free {
                        return Err(in_the_way(account, key));
                    }
                    tx.put(key.clone(), row.clone());
                }
                Ok(())
            };
            let keys = rows.iter().map(|(key, _)| key.clone()).collect();
            to.transact(&kind.directory(account), keys, put).await?;
        }
    }
    Ok(())
}

/// Takes away the rows that a copy has written.
pub(super) async fn withdraw(to: &Store, account: &str, ours: &Renumbering) -> Result<()> {
    for kind in Namespace::ALL {
        let found = named_objects(to, account, kind).await?;
        let keys = found.into_iter().filter(|object| ours.is_new_id(kind, object.id)).map(|object| object.key);
        let keys: Vec<Bytes> = keys.collect();
        for keys in keys.chunks(ROWS_MAX) {
            let delete = |tx: &mut Transaction| {
                for key in keys {
                    let is_ours = match tx.get(key) {
                        Some(found) => ours.is_new_id(kind, id_of_row(found)?),
                        None => false,
                    };
                    if is_ours {
                        tx.delete(key.clone());
                    }
                }
                Ok::<_, Error>(())
            };
            to.transact(&kind.directory(account), keys.to_vec(), delete).await?;
        }
    }
    Ok(())
}

fn in_the_way(account: &str, key: &[u8]) -> Error {
    let name = String::from_utf8_lossy(key);
    Error::invalid(format!(
        "the account {account} already has tables, queues or containers where it is to go, {name} among them; delete them, \
         or copy before servers with this account are started there"
    ))
}
