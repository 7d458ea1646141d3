//! D: where consistency is the point, the writer is killed at every step, with its last request carried out or not, and
//! the end state is checked.

use tablerock_client::sas::{BlobPermissions, BlobSas};
use tablerock_client::transport::{HyperTransport, Transport as _};
use tablerock_client::{
    ConnectionString, ContainerClient, Credential, DateTime, Entity, QueueClient, Result, TableClient, Write,
};
use tablerock_patterns::{
    Archive, CopiesAcrossPartitions, CopiesInPartition, EntityList, IndexList, LargeEntities, Resumed, WideEntities,
};

use crate::mortal::{Process, hasty, killed_at_every_step, recover};
use crate::support::Account;

fn jones(email: &str) -> Entity {
    Entity::new("Sales", "000123").with("Id", "000123").with("Email", email).with("Age", 43)
}

struct Table<P> {
    table: TableClient,
    piece: P,
}

struct Queued<P> {
    table: TableClient,
    other: TableClient,
    queue: QueueClient,
    container: ContainerClient,
    piece: P,
}

/// A table, and a pattern's piece on it.
fn on_table<P>(build: impl Fn(TableClient) -> P) -> impl Fn(&Process, &str) -> Table<P> {
    move |process, name| Table { table: process.tables.table(name), piece: build(process.tables.table(name)) }
}

async fn all(table: &TableClient) -> Vec<Entity> {
    table.query().all().await.unwrap()
}

#[tokio::test]
async fn d_a_killed_writer_of_copies_in_a_partition_leaves_all_or_nothing() {
    let account = Account::open().await;
    let row_keys = |entity: &Entity| {
        let text = |name| entity.property::<String>(name).unwrap_or_default();
        vec![format!("empid_{}", text("Id")), format!("email_{}", text("Email"))]
    };
    killed_at_every_step(
        &account,
        on_table(move |table| CopiesInPartition::new(table, row_keys)),
        async |people| {
            people.table.create().await.unwrap();
            people.piece.insert(&jones("old@contoso.com")).await.unwrap();
        },
        async |people| {
            let read: Entity = people.table.get("Sales", "empid_000123").await?;
            people.piece.replace(&read, &read.clone().with("Email", "new@contoso.com")).await
        },
        async |people, death, is_done| {
            let found = all(&people.table).await;
            assert_eq!(found.len(), 2, "{death:?}");
            let email: String = found[1].property("Email").unwrap();
            assert_eq!(found[0].row_key, format!("email_{email}"), "{death:?}");
            assert_eq!(found[0].properties(), found[1].properties(), "{death:?}");
            assert!(!is_done || email == "new@contoso.com");
        },
    )
    .await;
}

#[tokio::test]
async fn d_a_killed_writer_of_a_wide_entity_leaves_the_old_one_or_the_new_one() {
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
        async |surveys| surveys.piece.put(&survey(400)).await,
        async |surveys, death, is_done| {
            let found = surveys.piece.get("p", "r").await.unwrap().unwrap().into_properties();
            let is_new = found == survey(400).into_properties();
            assert!(is_new || found == survey(600).into_properties(), "{death:?}");
            assert_eq!(all(&surveys.table).await.len(), if is_new { 2 } else { 3 }, "{death:?}");
            assert!(is_new || !is_done);
        },
    )
    .await;
}

#[tokio::test]
async fn d_a_killed_writer_of_an_employee_and_its_index_leaves_both_or_none() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        on_table(|table| IndexList::new(EntityList::new(table, "Sales", "lastname_Jones"))),
        async |people| {
            people.table.create().await.unwrap();
            people.piece.add("000001").await.unwrap();
        },
        async |people| people.piece.add_together("000123", &[Write::insert(&jones("x"))]).await,
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
fn queued<P>(build: impl Fn(&Queued<()>, QueueClient) -> P) -> impl Fn(&Process, &str) -> Queued<P> {
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

async fn act_to_the_end(outcome: Result<Resumed>) -> Result<()> {
    match outcome? {
        Resumed::Failed(error) => Err(error),
        _ => Ok(()),
    }
}

#[tokio::test]
async fn d_a_killed_archive_worker_loses_nothing_and_leaves_nothing_twice() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(|all, poison| {
            Archive::new(all.table.clone(), all.other.clone(), all.queue.clone(), poison).with_intents(hasty)
        }),
        async |company| {
            company.table.create().await.unwrap();
            company.other.create().await.unwrap();
            company.piece.create_queues_if_not_exist().await.unwrap();
            company.table.insert(&jones("x")).await.unwrap();
        },
        async |company| {
            company.piece.request("Sales", "000123").await?;
            act_to_the_end(company.piece.work_once().await).await
        },
        async |company, death, is_done| {
            let (current, archived) = (all(&company.table).await, all(&company.other).await);
            assert!(!current.is_empty() || !archived.is_empty(), "{death:?}: it was in neither");
            let was_asked = company.queue.message_count().await.unwrap() > 0 || !archived.is_empty();
            recover(&company.queue, async || company.piece.work_once().await).await;
            let (current, archived) = (all(&company.table).await, all(&company.other).await);
            assert_eq!((current.is_empty(), archived.is_empty()), (was_asked, !was_asked), "{death:?}");
            assert!(current.iter().chain(&archived).all(|entity| entity.properties() == jones("x").properties()));
            assert!(was_asked || !is_done);
            assert_eq!(company.piece.poison().message_count().await.unwrap(), 0);
        },
    )
    .await;
}

fn copy_keys(entity: &Entity) -> Vec<(String, String)> {
    vec![("email".to_owned(), entity.property("Email").unwrap_or_default())]
}

async fn check_copies(people: &Queued<CopiesAcrossPartitions>, emails: &[Option<&str>]) {
    recover(&people.queue, async || people.piece.work_once().await).await;
    let found = all(&people.table).await;
    let email: Option<String> = found.first().map(|entity| entity.property("Email").unwrap());
    assert!(emails.contains(&email.as_deref()), "{email:?}");
    let keys: Vec<&str> = found.iter().map(|entity| entity.row_key.as_str()).collect();
    match &email {
        Some(email) => assert_eq!(keys, ["000123", email]),
        None => assert!(keys.is_empty()),
    }
    assert!(found.windows(2).all(|pair| pair[0].properties() == pair[1].properties()));
}

async fn prepare_copies(people: &Queued<CopiesAcrossPartitions>) {
    people.table.create().await.unwrap();
    people.piece.create_queues_if_not_exist().await.unwrap();
    people.piece.put(&jones("old@contoso.com")).await.unwrap();
}

fn copies(all: &Queued<()>, poison: QueueClient) -> CopiesAcrossPartitions {
    CopiesAcrossPartitions::new(all.table.clone(), all.queue.clone(), poison, copy_keys).with_intents(hasty)
}

#[tokio::test]
async fn d_copies_across_partitions_are_equal_again_after_a_writer_was_killed() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(copies),
        prepare_copies,
        async |people| people.piece.put(&jones("new@contoso.com")).await,
        async |people, _, is_done| {
            let emails = [Some("new@contoso.com"), Some("old@contoso.com")];
            check_copies(people, if is_done { &emails[..1] } else { &emails }).await;
        },
    )
    .await;
}

#[tokio::test]
async fn d_copies_across_partitions_are_gone_after_a_deleter_was_killed() {
    let account = Account::open().await;
    killed_at_every_step(
        &account,
        queued(copies),
        prepare_copies,
        async |people| people.piece.delete("Sales", "000123").await,
        async |people, _, is_done| {
            let emails = [None, Some("old@contoso.com")];
            check_copies(people, if is_done { &emails[..1] } else { &emails }).await;
        },
    )
    .await;
}

#[tokio::test]
async fn d_a_killed_writer_of_a_large_entity_leaves_no_dangling_reference_and_no_blob_behind() {
    let account = Account::open().await;
    let with_photo = |byte: u8| jones("x").with("Photo", vec![byte; 100_000]).with("Vita", "v".repeat(50_000));
    killed_at_every_step(
        &account,
        queued(|all, poison| {
            let (table, container) = (all.table.clone(), all.container.clone());
            LargeEntities::new(table, container, all.queue.clone(), poison).with_intents(hasty)
        }),
        async |people| {
            people.table.create().await.unwrap();
            people.piece.create_if_not_exists().await.unwrap();
            people.piece.put(&with_photo(1)).await.unwrap();
        },
        async |people| people.piece.put(&with_photo(2)).await,
        async |people, death, is_done| {
            for _ in ["right after", "after recovery"] {
                let found = people.piece.get("Sales", "000123").await.unwrap().unwrap();
                let is_new = found.get("Photo") == with_photo(2).get("Photo");
                assert!(is_new || found.get("Photo") == with_photo(1).get("Photo"), "{death:?}");
                assert!(is_new || !is_done);
                recover(&people.queue, async || people.piece.work_once().await).await;
            }
            assert_eq!(blob_count(&account, people.container.name()).await, 2, "{death:?}");
        },
    )
    .await;
}

/// Blobs in a container. The client does not list, so this is a request by hand.
async fn blob_count(account: &Account, container: &str) -> usize {
    let connection = ConnectionString::parse(account.connection_string()).unwrap();
    let Credential::SharedKey(key) = connection.credential() else { panic!("the tests have a key") };
    let permissions = BlobPermissions::parse("l").unwrap();
    let sas = BlobSas::for_container(key, container, permissions, DateTime::MAX).unwrap().sign().unwrap();
    let endpoint = connection.blob_endpoint().unwrap();
    let url = format!("{endpoint}/{container}?restype=container&comp=list&{}", sas.as_str());
    let request = http::Request::get(url).body(bytes::Bytes::new()).unwrap();
    let answer = HyperTransport::without_tls().send(request).await.unwrap();
    let text = String::from_utf8(answer.into_body().to_vec()).unwrap();
    assert!(text.contains("<EnumerationResults"), "{text}");
    text.matches("<Blob>").count()
}
