//! The methods that several patterns have, so that they are the same everywhere.

/// The verbs of a pattern that stores entities, in terms of its own `write` and `erase`.
macro_rules! entity_verbs {
    () => {
        /// Inserts an entity and returns its ETag. Fails with 409 if it exists.
        pub async fn insert(&self, entity: &T) -> Result<Etag> {
            self.write(entity.to_entity()?, Expected::Absent).await
        }

        /// Replaces the version that was read. Fails with 412 if the entity has changed since, and with 404 if it does
        /// not exist.
        pub fn replace(&self, entity: &T) -> EntityWrite<'_> {
            EntityWrite::replace(entity, |entity, expected| Box::pin(self.write(entity, expected)))
        }

        /// Replaces the version that was read, or inserts an entity without an ETag. Fails with 412 if the entity has
        /// changed since it was read, and with 409 if it exists and has not been read.
        #[doc(alias = "upsert")]
        pub fn put(&self, entity: &T) -> EntityWrite<'_> {
            EntityWrite::put(entity, |entity, expected| Box::pin(self.write(entity, expected)))
        }

        /// Deletes the version that was read, with all that belongs to it. Fails with 412 if the entity has changed
        /// since.
        pub fn delete(&self, entity: &T) -> EntityDelete<'_> {
            EntityDelete::new(entity.to_entity(), |entity, expected| Box::pin(self.erase(entity, expected)))
        }

        /// Deletes an entity by its keys. It needs [`EntityDelete::if_match`] or [`EntityDelete::any_version`].
        pub fn delete_by_keys(&self, partition_key: impl Into<String>, row_key: impl Into<String>) -> EntityDelete<'_> {
            let entity = Entity::new(partition_key, row_key);
            EntityDelete::new(Ok(entity), |entity, expected| Box::pin(self.erase(entity, expected)))
        }
    };
}

/// The worker of a pattern with intents, in terms of its own `resume`.
macro_rules! worker_verbs {
    () => {
        /// Changes the settings of the intents.
        #[must_use]
        pub fn with_intents(mut self, change: impl FnOnce(Intents<()>) -> Intents<()>) -> Self {
            self.intents = self.intents.map_settings(change);
            self
        }

        /// Returns the queue of failed intents.
        #[doc(alias = "dead_letter")]
        pub fn poison_queue(&self) -> &QueueClient {
            self.intents.poison_queue()
        }

        /// Moves failed intents back to the queue; see [`Intents::redrive_poison`].
        pub async fn redrive_poison(&self) -> Result<u64> {
            self.intents.redrive_poison().await
        }

        /// Returns a worker that performs the intents which are not finished.
        pub fn worker(&self) -> Worker<'_> {
            self.intents.worker(|intent| self.resume(intent))
        }

        /// Runs a [worker](Self::worker) until `shutdown` completes.
        pub async fn run(&self, shutdown: impl Future<Output = ()>) -> WorkCounts {
            self.worker().run(shutdown).await
        }

        /// Performs one intent that is not finished. [`run`](Self::run) does this in a loop.
        pub async fn work_once(&self) -> Result<WorkOutcome> {
            self.intents.work_once(|intent| self.resume(intent)).await
        }
    };
}

/// The checks of an index, in terms of its own `check`.
macro_rules! index_check_verbs {
    () => {
        /// Compares all entities with their index entries, and all entries with their entities. It changes nothing, and
        /// its memory does not grow with the table.
        ///
        /// If the index has intents, one that is not finished counts as a problem.
        pub async fn verify(&self) -> Result<IndexReport> {
            self.check(false).await
        }

        /// Verifies the index and mends it, for a new index over existing entities or after a restore. Returns the
        /// problems that it found. It is idempotent and may run while writers do; after an interruption, run it again.
        #[doc(alias = "reindex")]
        #[doc(alias = "repair")]
        pub async fn rebuild(&self) -> Result<IndexReport> {
            self.check(true).await
        }
    };
}

pub(crate) use {entity_verbs, index_check_verbs, worker_verbs};
