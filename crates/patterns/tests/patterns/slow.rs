//! Where consistency is the point, the writer stands still at every step for so long that a worker takes over, and
//! then goes on, or gets its one request out and dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, Response};
use tablerock_client::transport::{BoxFuture, HyperTransport, Transport, TransportError};
use tablerock_client::{ClientOptions, Entity, Result, RetryPolicy};
use tablerock_patterns::{Archive, CopiesAcrossPartitions, LargeEntities};
use tokio::sync::Semaphore;

use crate::killed::{
    Queued, act_to_the_end, all, archive, check_copies, copies, jones, prepare_archive, prepare_copies, queued,
};
use crate::killed_large::{blob_count, large, prepare_large, with_photo};
use crate::mortal::{Process, STEPS_MAX, recover};
use crate::support::{Account, unique_name};

/// Where a writer stands still.
#[derive(Debug)]
struct Halt {
    /// The number of requests that get a response before.
    step: i64,
    /// The request at which it stood still is its last one.
    dies: bool,
    sent: AtomicI64,
    reached: Semaphore,
    opened: Semaphore,
}

#[derive(Debug, Clone)]
struct SlowTransport {
    inner: HyperTransport,
    halt: Arc<Halt>,
}

impl Halt {
    fn at(step: i64, dies: bool) -> Self {
        let (reached, opened) = (Semaphore::new(0), Semaphore::new(0));
        Self { step, dies, sent: AtomicI64::new(0), reached, opened }
    }
}

impl Transport for SlowTransport {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, TransportError>> {
        Box::pin(async move {
            let halt = &self.halt;
            let sent = halt.sent.fetch_add(1, Ordering::SeqCst);
            if sent == halt.step {
                halt.reached.add_permits(1);
                halt.opened.acquire().await.expect("it is never closed").forget();
            }
            if halt.dies && sent >= halt.step {
                if sent == halt.step {
                    self.inner.send(request).await?;
                }
                return Err(TransportError::lost("killed"));
            }
            self.inner.send(request).await
        })
    }
}

/// The steps around a writer that stalls.
struct Scene<Build, Prepare, Act, Meanwhile, Resume, Judge> {
    build: Build,
    prepare: Prepare,
    act: Act,
    /// The steps of other clients before a worker takes over.
    meanwhile: Meanwhile,
    resume: Resume,
    judge: Judge,
}

impl<Build, Prepare, Act, Meanwhile, Resume, Judge> Scene<Build, Prepare, Act, Meanwhile, Resume, Judge> {
    /// Plays it once for every step at which the process can stand still, all side by side, since most of it is waiting.
    async fn play<P>(&self, account: &Account)
    where
        Build: Fn(&Process, &str) -> Queued<P>,
        Prepare: AsyncFn(&Queued<P>),
        Act: AsyncFn(&Queued<P>) -> Result<()>,
        Meanwhile: AsyncFn(&Queued<P>),
        Resume: AsyncFn(&Queued<P>),
        Judge: AsyncFn(&Queued<P>, bool),
    {
        for dies in [false, true] {
            let steps = (0..STEPS_MAX).map(|step| self.play_step(account, step, dies));
            let held = join_all(steps).await.into_iter().take_while(|was_held| *was_held).count() as i64;
            assert!(0 < held && held < STEPS_MAX, "it was held {held} times");
        }
    }

    /// Returns whether there was such a step.
    async fn play_step<P>(&self, account: &Account, step: i64, dies: bool) -> bool
    where
        Build: Fn(&Process, &str) -> Queued<P>,
        Prepare: AsyncFn(&Queued<P>),
        Act: AsyncFn(&Queued<P>) -> Result<()>,
        Meanwhile: AsyncFn(&Queued<P>),
        Resume: AsyncFn(&Queued<P>),
        Judge: AsyncFn(&Queued<P>, bool),
    {
        let name = unique_name();
        let survivor = (self.build)(&Process::healthy(account), &name);
        (self.prepare)(&survivor).await;
        let halt = Arc::new(Halt::at(step, dies));
        let transport = SlowTransport { inner: HyperTransport::without_tls(), halt: Arc::clone(&halt) };
        let options = || ClientOptions::new().retry(RetryPolicy::none()).transport(transport.clone());
        let writer = (self.build)(&Process::with(account, options), &name);
        let others = async {
            halt.reached.acquire().await.expect("it is never closed").forget();
            (self.meanwhile)(&survivor).await;
            (self.resume)(&survivor).await;
            halt.opened.add_permits(1);
        };
        let acting = (self.act)(&writer);
        tokio::pin!(acting, others);
        let (outcome, was_held) = tokio::select! {
            outcome = &mut acting => (outcome, false),
            () = &mut others => (acting.await, true),
        };
        (self.resume)(&survivor).await;
        (self.judge)(&survivor, outcome.is_ok()).await;
        assert!(was_held || outcome.is_ok(), "without a halt it comes to its end: {outcome:?}");
        was_held
    }
}

async fn nothing<P>(_: &Queued<P>) {}

async fn resume_copies(people: &Queued<CopiesAcrossPartitions>) {
    recover(&people.queue, async || people.piece.work_once().await).await;
}

#[tokio::test]
async fn copies_across_partitions_end_equal_however_slow_a_writer_is() {
    let account = Account::open().await;
    let scene = Scene {
        build: queued(copies),
        prepare: prepare_copies,
        act: async |people: &Queued<CopiesAcrossPartitions>| {
            people.piece.put(&jones("new@contoso.com")).any_version().await.map(drop)
        },
        meanwhile: nothing,
        resume: resume_copies,
        judge: async |people: &Queued<_>, is_done: bool| {
            let emails = [Some("new@contoso.com"), Some("old@contoso.com")];
            check_copies(people, if is_done { &emails[..1] } else { &emails }).await;
        },
    };
    scene.play(&account).await;
}

/// Notes that another writer has changed the entity, and not the halted one alone.
async fn change_meanwhile(people: &Queued<CopiesAcrossPartitions>) {
    let read = people.piece.get_if_exists("Sales", "000123").await.unwrap().unwrap();
    people.piece.replace(&read.with("Age", 44)).await.unwrap();
    people.other.insert(&Entity::new("note", "changed")).await.unwrap();
}

#[tokio::test]
async fn a_slow_writer_of_copies_does_not_overwrite_a_change_in_between() {
    let account = Account::open().await;
    let scene = Scene {
        build: queued(copies),
        prepare: async |people: &Queued<CopiesAcrossPartitions>| {
            prepare_copies(people).await;
            people.other.create().await.unwrap();
        },
        act: async |people: &Queued<CopiesAcrossPartitions>| {
            let read = people.piece.get_if_exists("Sales", "000123").await?.unwrap();
            people.piece.replace(&read.with("Email", "new@contoso.com")).await.map(drop)
        },
        meanwhile: change_meanwhile,
        resume: resume_copies,
        judge: async |people: &Queued<_>, is_done: bool| {
            let emails = [Some("new@contoso.com"), Some("old@contoso.com")];
            check_copies(people, if is_done { &emails[..1] } else { &emails }).await;
            let found = people.piece.get_if_exists("Sales", "000123").await.unwrap().unwrap();
            let was_changed = !all(&people.other).await.is_empty();
            assert_eq!(found.property::<i32>("Age").unwrap(), if was_changed { 44 } else { 43 });
        },
    };
    scene.play(&account).await;
}

#[tokio::test]
async fn copies_across_partitions_end_gone_however_slow_a_deleter_is() {
    let account = Account::open().await;
    let scene = Scene {
        build: queued(copies),
        prepare: prepare_copies,
        act: async |people: &Queued<CopiesAcrossPartitions>| {
            people.piece.delete_by_keys("Sales", "000123").any_version().await
        },
        meanwhile: nothing,
        resume: resume_copies,
        judge: async |people: &Queued<_>, is_done: bool| {
            let emails = [None, Some("old@contoso.com")];
            check_copies(people, if is_done { &emails[..1] } else { &emails }).await;
        },
    };
    scene.play(&account).await;
}

#[tokio::test]
async fn a_slow_archive_worker_does_not_bring_an_old_version_back() {
    let account = Account::open().await;
    let changed = || Entity::new("note", "changed");
    let scene = Scene {
        build: queued(archive),
        prepare: prepare_archive,
        act: async |company: &Queued<Archive>| {
            company.piece.request("Sales", "000123").await?;
            act_to_the_end(company.piece.work_once().await).await
        },
        // The entity changes, unless it has been moved already, and a faster worker moves the new version.
        meanwhile: async |company: &Queued<Archive>| {
            if let Some(current) = company.table.get_if_exists::<Entity>("Sales", "000123").await.unwrap() {
                company.table.replace(&current.with("Age", 44)).await.unwrap();
                company.other.insert(&changed()).await.unwrap();
            }
        },
        resume: async |company: &Queued<Archive>| {
            recover(&company.queue, async || company.piece.work_once().await).await;
        },
        judge: async |company: &Queued<Archive>, is_done: bool| {
            let (current, mut archived) = (all(&company.table).await, all(&company.other).await);
            let was_changed = archived.iter().any(|entity| entity.row_key == changed().row_key);
            archived.retain(|entity| entity.row_key != changed().row_key);
            assert_eq!(current.len() + archived.len(), 1, "{current:?} {archived:?}");
            assert!(!is_done || current.is_empty());
            let age: i32 = current.iter().chain(&archived).next().unwrap().property("Age").unwrap();
            assert_eq!(age, if was_changed { 44 } else { 43 });
        },
    };
    scene.play(&account).await;
}

#[tokio::test]
async fn a_slow_writer_of_a_large_entity_does_not_overwrite_a_change_in_between() {
    let account = Account::open().await;
    let scene = Scene {
        build: queued(large),
        prepare: async |people: &Queued<LargeEntities>| {
            prepare_large(people).await;
            people.other.create().await.unwrap();
        },
        act: async |people: &Queued<LargeEntities>| {
            let read = people.piece.get_if_exists("Sales", "000123").await?.unwrap();
            people.piece.put(&read.with("Photo", vec![2; 100_000])).await.map(drop)
        },
        meanwhile: async |people: &Queued<LargeEntities>| {
            let read = people.piece.get_if_exists("Sales", "000123").await.unwrap().unwrap();
            people.piece.put(&read.with("Age", 44)).await.unwrap();
            people.other.insert(&Entity::new("note", "changed")).await.unwrap();
        },
        resume: async |people: &Queued<LargeEntities>| {
            recover(&people.queue, async || people.piece.work_once().await).await;
        },
        judge: async |people: &Queued<LargeEntities>, is_done: bool| {
            let found = people.piece.get_if_exists("Sales", "000123").await.unwrap().unwrap();
            let was_changed = !all(&people.other).await.is_empty();
            assert_eq!(found.property::<i32>("Age").unwrap(), if was_changed { 44 } else { 43 });
            let photo: Vec<u8> = found.property("Photo").unwrap();
            assert!(photo[0] == 2 || (!is_done && photo[0] == 1));
            assert!((2..=2 + usize::from(!is_done)).contains(&blob_count(people).await));
        },
    };
    scene.play(&account).await;
}

#[tokio::test]
async fn a_slow_writer_of_a_large_entity_never_refers_to_blobs_that_are_gone() {
    let account = Account::open().await;
    for is_new in [false, true] {
        let scene = Scene {
            build: queued(large),
            prepare: async |people: &Queued<LargeEntities>| {
                prepare_large(people).await;
                if is_new {
                    people.piece.delete_by_keys("Sales", "000123").any_version().await.unwrap();
                }
            },
            act: async |people: &Queued<LargeEntities>| people.piece.put(&with_photo(2)).any_version().await.map(drop),
            meanwhile: nothing,
            resume: async |people: &Queued<LargeEntities>| {
                recover(&people.queue, async || people.piece.work_once().await).await;
            },
            judge: async |people: &Queued<LargeEntities>, is_done: bool| {
                let found = people.piece.get_if_exists("Sales", "000123").await.unwrap().map(Entity::into_properties);
                let before = if is_new { None } else { Some(with_photo(1).into_properties()) };
                let is_put = found == Some(with_photo(2).into_properties());
                assert!(is_put || (!is_done && found == before));
                // A blob that arrives behind the worker, from a writer that then dies, is all that can be left over.
                let needed = if found.is_some() { 2 } else { 0 };
                assert!((needed..=needed + usize::from(!is_done)).contains(&blob_count(people).await));
            },
        };
        scene.play(&account).await;
    }
}
