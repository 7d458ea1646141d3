//! Where consistency is the point, the writer is killed at every step, with its last request carried out or not, and
//! the end state is checked.

use tablerock_client::{ContainerClient, Entity, QueueClient, Result, TableClient, TableOperation};
use tablerock_patterns::{
    Archive, BlobLists, CopiesAcrossPartitions, CopiesInPartition, EntityList, IndexList, ListPlace, ListedEntities,
    TableLists, WideEntities, WorkOutcome,
};

use crate::mortal::{Death, Process, hasty, killed_at_every_step, recover};
use crate::support::Account;

pub(crate) fn jones(email: &str) -> Entity {
    Entity::new("Sales", "000123").with("Id", "000123").with("Email", email).with("Age", 43)
}

/// The index of the email address.
pub(crate) fn email(entity: &Entity) -> Option<String> {
    entity.property::<String>("Email").ok()
}

struct Table<P> {
    table: TableClient,
    piece: P,
}

pub(crate) struct Queued<P> {
    pub(crate) table: TableClient,
    pub(crate) other: TableClient,
    pub(crate) queue: QueueClient,
    pub(crate) container: ContainerClient,
    pub(crate) piece: P,
}

/// A table, and a pattern's piece on it.
fn on_table<P>(build: impl Fn(TableClient) -> P) -> impl Fn(&Process, &str) -> Table<P> {
    move |process, name| Table { table: process.tables.table(name), piece: build(process.tables.table(name)) }
}

pub(crate) async fn all(table: &TableClient) -> Vec<Entity> {
    table.query().all().await.unwrap()
}

#[tokio::test]
async fn a_killed_writer_of_copies_in_a_partition_leaves_all_or_nothing() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        on_table(|table| CopiesInPartition::new(table).index("email", email)),
        async |people| {
            people.table.create().await.unwrap();
            people.piece.insert(&jones("old@contoso.com")).await.unwrap();
        },
        async |people| {
            let read = people.piece.get_if_exists("Sales", "000123").await?.unwrap();
            people.piece.replace(&read.with("Email", "new@contoso.com")).await.map(drop)
        },
        async |people, death, is_done| {
            let found = all(&people.table).await;
            assert_eq!(found.len(), 2, "{death:?}");
            let email: String = found[0].property("Email").unwrap();
            assert_eq!(found[1].row_key, format!("email_{email}"), "{death:?}");
            assert!(people.piece.verify().await.unwrap().is_consistent(), "{death:?}");
            assert!(!is_done || email == "new@contoso.com");
        },
    )
    .await;
}

#[tokio::test]
async fn a_killed_writer_of_a_wide_entity_leaves_the_old_one_or_the_new_one() {
    let account = Account::open().await;
    let survey = |questions: i32| {
        (0..questions).fold(Entity::new("p", "r"), |survey, question| survey.with(format!("Q{question}"), questions))
    };
    killed_at_every_step(
        &account,
        on_table(WideEntities::new),
        async |surveys| {
            surveys.table.create().await.unwrap();
            surveys.piece.put(&survey(600)).await.unwrap();
        },
        async |surveys| surveys.piece.put(&survey(400)).any_version().await.map(drop),
        async |surveys, death, is_done| {
            let found = surveys.piece.get_if_exists("p", "r").await.unwrap().unwrap().into_properties();
            let is_new = found == survey(400).into_properties();
            assert!(is_new || found == survey(600).into_properties(), "{death:?}");
            assert_eq!(all(&surveys.table).await.len(), if is_new { 2 } else { 3 }, "{death:?}");
            assert!(is_new || !is_done);
        },
    )
    .await;
}

#[tokio::test]
async fn a_killed_writer_of_an_employee_and_its_index_leaves_both_or_none() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        on_table(|table| IndexList::new(EntityList::new(table, "Sales", "lastname_Jones"))),
        async |people| {
            people.table.create().await.unwrap();
            people.piece.add("000001").await.unwrap();
        },
        async |people| people.piece.add_with("000123", &[TableOperation::insert(&jones("x"))]).await.map(drop),
        async |people, death, is_done| {
            let is_listed = people.piece.ids().await.unwrap().contains(&"000123".to_owned());
            let is_there = people.table.get_if_exists::<Entity>("Sales", "000123").await.unwrap().is_some();
            assert_eq!(is_listed, is_there, "{death:?}");
            assert!(is_there || !is_done);
        },
    )
    .await;
}

/// All that a piece with intents needs, under one name.
pub(crate) fn queued<P>(build: impl Fn(&Queued<()>, QueueClient) -> P) -> impl Fn(&Process, &str) -> Queued<P> {
    move |process, name| {
        let table = process.tables.table(name);
        let other = process.tables.table(format!("{name}other"));
        let (queue, poison) = (process.queues.queue(name), process.queues.queue(format!("{name}-poison")));
        let container = process.blobs.container(name);
        let bare = Queued { table, other, queue, container, piece: () };
        let piece = build(&bare, poison);
        let Queued { table, other, queue, container, .. } = bare;
        Queued { table, other, queue, container, piece }
    }
}

pub(crate) async fn act_to_the_end(outcome: Result<WorkOutcome>) -> Result<()> {
    match outcome? {
        WorkOutcome::Failed(error) => Err(error),
        _ => Ok(()),
    }
}

pub(crate) fn archive(all: &Queued<()>, poison: QueueClient) -> Archive {
    Archive::new(all.table.clone(), all.other.clone(), all.queue.clone(), poison).with_intents(hasty)
}

pub(crate) async fn prepare_archive(company: &Queued<Archive>) {
    company.piece.create_if_not_exists().await.unwrap();
    company.table.insert(&jones("x")).await.unwrap();
}

#[tokio::test]
async fn a_killed_archive_worker_loses_nothing_and_leaves_nothing_twice() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(archive),
        prepare_archive,
        async |company| {
            company.piece.request("Sales", "000123").await?;
            act_to_the_end(company.piece.work_once().await).await
        },
        async |company, death, is_done| {
            let (current, archived) = (all(&company.table).await, all(&company.other).await);
            assert!(!current.is_empty() || !archived.is_empty(), "{death:?}: it was in neither");
            let was_asked = company.queue.approximate_message_count().await.unwrap() > 0 || !archived.is_empty();
            recover(&company.queue, async || company.piece.work_once().await).await;
            let (current, archived) = (all(&company.table).await, all(&company.other).await);
            assert_eq!((current.is_empty(), archived.is_empty()), (was_asked, !was_asked), "{death:?}");
            let names: Vec<String> = jones("x").properties().iter().map(|one| one.name.to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let mut found = current.into_iter().chain(archived).map(|entity| entity.select_properties(&names));
            assert!(found.all(|entity| entity.properties() == jones("x").properties()));
            assert!(was_asked || !is_done);
            assert_eq!(company.piece.poison_queue().approximate_message_count().await.unwrap(), 0);
        },
    )
    .await;
}

pub(crate) async fn check_copies(people: &Queued<CopiesAcrossPartitions>, emails: &[Option<&str>]) {
    recover(&people.queue, async || people.piece.work_once().await).await;
    let found = people.piece.get_if_exists("Sales", "000123").await.unwrap();
    let email: Option<String> = found.map(|entity| entity.property("Email").unwrap());
    assert!(emails.contains(&email.as_deref()), "{email:?}");
    assert_eq!(all(&people.table).await.len(), if email.is_some() { 2 } else { 0 });
    let report = people.piece.verify().await.unwrap();
    assert!(report.is_consistent(), "{report:?}");
}

pub(crate) async fn prepare_copies(people: &Queued<CopiesAcrossPartitions>) {
    people.piece.create_if_not_exists().await.unwrap();
    people.piece.put(&jones("old@contoso.com")).await.unwrap();
}

pub(crate) fn copies(all: &Queued<()>, poison: QueueClient) -> CopiesAcrossPartitions {
    CopiesAcrossPartitions::new(all.table.clone(), all.queue.clone(), poison).index("email", email).with_intents(hasty)
}

#[tokio::test]
async fn copies_across_partitions_are_equal_again_after_a_writer_was_killed() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(copies),
        prepare_copies,
        async |people| people.piece.put(&jones("new@contoso.com")).any_version().await.map(drop),
        async |people, _, is_done| {
            let emails = [Some("new@contoso.com"), Some("old@contoso.com")];
            check_copies(people, if is_done { &emails[..1] } else { &emails }).await;
        },
    )
    .await;
}

#[tokio::test]
async fn copies_across_partitions_are_gone_after_a_deleter_was_killed() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(copies),
        prepare_copies,
        async |people| people.piece.delete_by_keys("Sales", "000123").any_version().await,
        async |people, _, is_done| {
            let emails = [None, Some("old@contoso.com")];
            check_copies(people, if is_done { &emails[..1] } else { &emails }).await;
        },
    )
    .await;
}

#[tokio::test]
async fn copies_across_partitions_are_equal_again_after_a_worker_was_killed() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(copies),
        async |people| {
            prepare_copies(people).await;
            // What a writer has left that died before its copies.
            let death = Death { step: 3, after_sending: false };
            let dead = queued(copies)(&Process::mortal(&account, death), people.table.name());
            let put = dead.piece.put(&jones("new@contoso.com")).any_version();
            // The entity is stored, and its copies are left to a worker.
            put.await.unwrap();
            wait_until_visible(&people.queue).await;
        },
        async |people| act_to_the_end(people.piece.work_once().await).await,
        async |people, _, _| check_copies(people, &[Some("new@contoso.com")]).await,
    )
    .await;
}

fn listed<L: ListPlace>(all: &Queued<()>, poison: QueueClient, lists: L) -> ListedEntities<Entity, L> {
    let (table, queue) = (all.table.clone(), all.queue.clone());
    ListedEntities::new(table, lists, queue, poison).index("email", email).with_intents(hasty)
}

/// An employee who changes the list, and then goes, by a writer that is killed.
async fn killed_while_listed<L: ListPlace>(
    account: &Account,
    open: impl Fn(&Queued<()>, QueueClient) -> ListedEntities<Entity, L>,
) {
    let prepare = async |people: &Queued<ListedEntities<Entity, L>>| {
        people.piece.create_if_not_exists().await.unwrap();
        people.piece.put(&jones("old")).await.unwrap();
    };
    let check = async |people: &Queued<ListedEntities<Entity, L>>, emails: &[Option<&str>]| {
        recover(&people.queue, async || people.piece.work_once().await).await;
        let found = people.table.get_if_exists::<Entity>("Sales", "000123").await.unwrap();
        let email: Option<String> = found.map(|entity| entity.property("Email").unwrap());
        assert!(emails.contains(&email.as_deref()), "{email:?}");
        for name in ["old", "new"] {
            let ids = people.piece.list("email", name).ids().await.unwrap();
            assert_eq!(!ids.is_empty(), email.as_deref() == Some(name), "{email:?}: {ids:?}");
            let found = people.piece.find_by("email", name).all().await.unwrap();
            assert_eq!(found.len(), ids.len(), "{email:?}");
        }
    };
    killed_at_every_step(
        account,
        queued(&open),
        prepare,
        async |people| people.piece.put(&jones("new")).any_version().await.map(drop),
        async |people, _, is_done| check(people, &[Some("new"), Some("old")][..if is_done { 1 } else { 2 }]).await,
    )
    .await;
    killed_at_every_step(
        account,
        queued(&open),
        prepare,
        async |people| people.piece.delete_by_keys("Sales", "000123").any_version().await,
        async |people, _, is_done| check(people, &[None, Some("old")][..if is_done { 1 } else { 2 }]).await,
    )
    .await;
}

#[tokio::test]
async fn a_list_in_a_blob_is_right_again_after_a_writer_was_killed() {
    let account = Account::open().await;
    killed_while_listed(&account, |all, poison| listed(all, poison, BlobLists::new(all.container.clone()))).await;
}

#[tokio::test]
async fn a_list_in_another_partition_is_right_again_after_a_writer_was_killed() {
    let account = Account::open().await;
    killed_while_listed(&account, |all, poison| listed(all, poison, TableLists::new(all.other.clone()))).await;
}

pub(crate) async fn wait_until_visible(queue: &QueueClient) {
    for _ in 0..100 {
        if !queue.peek_messages(1).await.unwrap().is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the intent stays hidden");
}
