//! Every write requires the version that was read: a change by another writer in between is not lost.

use tablerock_client::{Entity, Etag, Result};
use tablerock_patterns::{
    BlobLists, CopiesAcrossPartitions, CopiesInPartition, IndexStore, IndexedTable, LargeEntities, ListedEntities,
    WideEntities,
};

use crate::killed::email;
use crate::mortal::{Process, hasty};
use crate::support::{Account, unique_name};

/// The verbs that all patterns have, for one test of all.
pub(crate) trait Verbs: Clone + Send + Sync + 'static {
    fn read(&self) -> impl Future<Output = Option<Entity>> + Send;
    fn insert(&self, entity: &Entity) -> impl Future<Output = Result<Etag>> + Send;
    fn replace(&self, entity: &Entity) -> impl Future<Output = Result<Etag>> + Send;
    fn put(&self, entity: &Entity) -> impl Future<Output = Result<Etag>> + Send;
    fn put_any(&self, entity: &Entity) -> impl Future<Output = Result<Etag>> + Send;
    fn replace_any(&self, entity: &Entity) -> impl Future<Output = Result<Etag>> + Send;
    fn delete(&self, entity: &Entity) -> impl Future<Output = Result<()>> + Send;
    fn delete_if_exists(&self) -> impl Future<Output = Result<bool>> + Send;
}

macro_rules! verbs {
    ($([$($generics:tt)*] $pattern:ty;)*) => {
        $(impl<$($generics)*> Verbs for $pattern {
            async fn read(&self) -> Option<Entity> {
                self.get_if_exists("p", "r").await.unwrap()
            }

            async fn insert(&self, entity: &Entity) -> Result<Etag> {
                self.insert(entity).await
            }

            async fn replace(&self, entity: &Entity) -> Result<Etag> {
                self.replace(entity).await
            }

            async fn put(&self, entity: &Entity) -> Result<Etag> {
                self.put(entity).await
            }

            async fn put_any(&self, entity: &Entity) -> Result<Etag> {
                self.put(entity).any_version().await
            }

            async fn replace_any(&self, entity: &Entity) -> Result<Etag> {
                self.replace(entity).any_version().await
            }

            async fn delete(&self, entity: &Entity) -> Result<()> {
                self.delete(entity).await
            }

            async fn delete_if_exists(&self) -> Result<bool> {
                self.delete_by_keys("p", "r").any_version().if_exists().await
            }
        })*
    };
}

verbs! {
    [] WideEntities;
    [] LargeEntities;
    [] CopiesInPartition;
    [S: IndexStore] IndexedTable<Entity, S>;
}

pub(crate) struct Patterns {
    pub(crate) wide: WideEntities,
    pub(crate) large: LargeEntities,
    pub(crate) within: CopiesInPartition,
    pub(crate) across: CopiesAcrossPartitions,
    pub(crate) listed: ListedEntities<Entity, BlobLists>,
}

/// Each pattern with a table of its own.
pub(crate) async fn patterns(account: &Account) -> Patterns {
    let process = Process::healthy(account);
    let names = [(); 5].map(|()| unique_name());
    let table = |index: usize| process.tables.table(&names[index]);
    let queue = |index: usize| process.queues.queue(&names[index]);
    let poison = |index: usize| process.queues.queue(format!("{}-poison", names[index]));
    let container = |index: usize| process.blobs.container(&names[index]);
    let across = CopiesAcrossPartitions::new(table(3), queue(3), poison(3)).index("email", email);
    let listed = ListedEntities::new(table(4), BlobLists::new(container(4)), queue(4), poison(4)).index("email", email);
    let patterns = Patterns {
        wide: WideEntities::new(table(0)),
        large: LargeEntities::new(table(1), container(1), queue(1), poison(1)).with_intents(hasty),
        within: CopiesInPartition::new(table(2)).index("email", email),
        across: across.with_intents(hasty),
        listed: listed.with_intents(hasty),
    };
    patterns.wide.create_if_not_exists().await.unwrap();
    patterns.large.create_if_not_exists().await.unwrap();
    patterns.within.create_if_not_exists().await.unwrap();
    patterns.across.create_if_not_exists().await.unwrap();
    patterns.listed.create_if_not_exists().await.unwrap();
    patterns
}

/// An entity with a counter, and a value that is large for all patterns.
pub(crate) fn counted(count: i64) -> Entity {
    let entity = Entity::new("p", "r").with("Count", count).with("Email", "a@contoso.com");
    entity.with("Photo", vec![u8::try_from(count % 256).unwrap(); 50_000])
}

/// The entity as if it had been read with an ETag.
fn version(mut entity: Entity, etag: Option<&Etag>) -> Entity {
    entity.etag = etag.cloned();
    entity
}

fn count(entity: Option<Entity>) -> Option<i64> {
    entity.map(|entity| entity.property("Count").unwrap())
}

fn changed<T: std::fmt::Debug>(outcome: Result<T>) {
    let error = outcome.unwrap_err();
    assert!(error.is_precondition_failed(), "{error}");
}

async fn holds_versions(pattern: impl Verbs) {
    // Nothing is there.
    assert!(pattern.replace_any(&counted(0)).await.unwrap_err().is_not_found());
    assert!(!pattern.delete_if_exists().await.unwrap());
    let error = pattern.replace(&counted(0)).await.unwrap_err().to_string();
    assert!(error.contains("has no ETag: read it first"), "{error}");

    // An entity without an ETag is a new one.
    let etag = pattern.put(&counted(1)).await.unwrap();
    let read = pattern.read().await.unwrap();
    assert_eq!(read.etag, Some(etag));
    assert!(pattern.put(&counted(2)).await.unwrap_err().is_conflict());
    assert!(pattern.insert(&counted(2)).await.unwrap_err().is_conflict());

    // Another writer changes it after it was read.
    let theirs = version(counted(2), read.etag.as_ref());
    let etag = pattern.put(&theirs).await.unwrap();
    let mine = version(counted(3), read.etag.as_ref());
    changed(pattern.put(&mine).await);
    changed(pattern.replace(&mine).await);
    changed(pattern.delete(&mine).await);
    assert_eq!(count(pattern.read().await), Some(2));

    // The ETag of a write is that of the next read, and is good for the next write.
    let etag = pattern.replace(&version(counted(4), Some(&etag))).await.unwrap();
    let read = pattern.read().await.unwrap();
    assert_eq!((read.etag.clone(), count(Some(read.clone()))), (Some(etag), Some(4)));

    // Overwriting has to be asked for.
    pattern.put_any(&counted(5)).await.unwrap();
    pattern.replace_any(&counted(6)).await.unwrap();
    changed(pattern.delete(&read).await);
    let read = pattern.read().await.unwrap();
    pattern.delete(&read).await.unwrap();
    assert_eq!(count(pattern.read().await), None);
    // A deleted entity does not come back by a write of an old version.
    assert!(pattern.put(&read).await.unwrap_err().is_not_found());
    assert_eq!(count(pattern.read().await), None);
    pattern.put_any(&counted(7)).await.unwrap();
    assert!(pattern.delete_if_exists().await.unwrap());
}

#[tokio::test]
async fn wide_entities_hold_versions() {
    let account = Account::open().await;
    holds_versions(patterns(&account).await.wide).await;
}

#[tokio::test]
async fn large_entities_hold_versions() {
    let account = Account::open().await;
    holds_versions(patterns(&account).await.large).await;
}

#[tokio::test]
async fn copies_in_a_partition_hold_versions() {
    let account = Account::open().await;
    holds_versions(patterns(&account).await.within).await;
}

#[tokio::test]
async fn copies_across_partitions_hold_versions() {
    let account = Account::open().await;
    holds_versions(patterns(&account).await.across).await;
}

#[tokio::test]
async fn listed_entities_hold_versions() {
    let account = Account::open().await;
    holds_versions(patterns(&account).await.listed).await;
}

/// An entity that was found by a second key has its own keys, and a version that a write requires.
#[tokio::test]
async fn an_entity_found_by_an_index_can_be_written_once() {
    let account = Account::open().await;
    let Patterns { within, across, listed, .. } = patterns(&account).await;
    let moved = |read: &Entity, email: &str| read.clone().with("Email", email);

    within.insert(&counted(1)).await.unwrap();
    let by_email = within.find_by("p", "email", "a@contoso.com").await.unwrap().unwrap();
    let by_keys = within.get_if_exists("p", "r").await.unwrap().unwrap();
    assert_eq!((by_email.row_key.as_str(), by_email.properties()), ("r", by_keys.properties()));
    within.replace(&moved(&by_email, "b@contoso.com")).await.unwrap();
    for old in [&by_email, &by_keys] {
        changed(within.replace(&moved(old, "c@contoso.com")).await);
        changed(within.put(old).await);
        changed(within.delete(old).await);
    }
    // The copy is written with every version, even if its key stays.
    let by_email = within.find_by("p", "email", "b@contoso.com").await.unwrap().unwrap();
    within.put_any(&moved(&counted(2), "b@contoso.com")).await.unwrap();
    changed(within.delete(&by_email).await);
    let by_email = within.find_by("p", "email", "b@contoso.com").await.unwrap().unwrap();
    within.delete(&by_email).await.unwrap();
    assert!(within.find_by("p", "email", "b@contoso.com").await.unwrap().is_none());

    across.insert(&counted(1)).await.unwrap();
    let by_email = across.find_by("email", "a@contoso.com").first().await.unwrap().unwrap();
    assert_eq!(by_email.row_key, "r");
    across.replace(&moved(&by_email, "b@contoso.com")).await.unwrap();
    changed(across.replace(&moved(&by_email, "c@contoso.com")).await);
    assert!(across.find_by("email", "a@contoso.com").all().await.unwrap().is_empty());
    let by_email = across.find_by("email", "b@contoso.com").first().await.unwrap().unwrap();
    across.delete(&by_email).await.unwrap();

    listed.insert(&counted(1)).await.unwrap();
    let by_email = listed.find_by("email", "a@contoso.com").first().await.unwrap().unwrap();
    listed.replace(&moved(&by_email, "b@contoso.com")).await.unwrap();
    changed(listed.replace(&moved(&by_email, "c@contoso.com")).await);
    assert!(listed.find_by("email", "a@contoso.com").all().await.unwrap().is_empty());
    assert_eq!(listed.find_by("email", "b@contoso.com").all().await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_an_index_cannot_hold_is_rejected_before_anything_is_written() {
    let account = Account::open().await;
    let Patterns { within, across, .. } = patterns(&account).await;
    let error = across.find_by("emial", "x").first().await.unwrap_err().to_string();
    assert!(error.contains("emial") && error.contains("email"), "{error}");
    for (entity, words) in [
        (counted(1).with("Email", ""), "empty value"),
        (counted(1).with("Email", "x".repeat(600)), "512"),
        (counted(1).with("CopyRowKey", "x"), "reserved"),
    ] {
        for error in [across.insert(&entity).await.unwrap_err(), within.insert(&entity).await.unwrap_err()] {
            assert!(error.to_string().contains(words), "{error}");
        }
    }
    let error = within.insert(&counted(1).with_keys("p", "email_x")).await.unwrap_err().to_string();
    assert!(error.contains("begins like"), "{error}");
    // Characters that no key can have are escaped.
    let odd = "a/b\\c#d?e_f=g\u{7f}";
    within.insert(&counted(1).with("Email", odd)).await.unwrap();
    assert!(within.find_by("p", "email", odd).await.unwrap().is_some());
    across.insert(&counted(1).with("Email", odd)).await.unwrap();
    assert_eq!(across.find_by("email", odd).all().await.unwrap().len(), 1);
}

/// All calls can be awaited in a task of their own.
#[tokio::test]
async fn all_calls_are_send() {
    fn is_send(_: impl IntoFuture<IntoFuture: Send>) {}
    let account = Account::open().await;
    let Patterns { wide, large, within, across, listed } = patterns(&account).await;
    let entity = counted(1);
    is_send(wide.put(&entity));
    is_send(large.delete(&entity).if_exists());
    is_send(within.insert(&entity));
    is_send(within.rebuild());
    is_send(within.find_by("p", "email", "x"));
    is_send(across.verify());
    is_send(across.find_by("email", "x").all());
    is_send(listed.rebuild());
    is_send(listed.run(async {}));
    is_send(listed.redrive_poison());
}
