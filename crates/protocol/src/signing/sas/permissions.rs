//! The sets of a SAS: permissions (`sp`), services (`ss`) and resource types (`srt`).

use super::letter_set::letter_set;

letter_set! {
    /// The permissions of a table's SAS. An upsert needs both `ADD` and `UPDATE`.
    TablePermissions {
        /// Query entities.
        READ = 'r',
        /// Insert entities.
        ADD = 'a',
        /// Update and merge entities.
        UPDATE = 'u',
        /// Delete entities.
        DELETE = 'd',
    }
}

letter_set! {
    /// The permissions of a queue's SAS.
    QueuePermissions {
        /// Peek at messages and read the queue's metadata.
        READ = 'r',
        /// Put messages.
        ADD = 'a',
        /// Update messages.
        UPDATE = 'u',
        /// Get and delete messages.
        PROCESS = 'p',
    }
}

letter_set! {
    /// The permissions of a container's or blob's SAS.
    BlobPermissions {
        /// Read content, properties, metadata and block lists.
        READ = 'r',
        /// Append blocks.
        ADD = 'a',
        /// Create blobs, also by copy and snapshot.
        CREATE = 'c',
        /// Write content, properties, metadata and block lists.
        WRITE = 'w',
        /// Delete blobs.
        DELETE = 'd',
        /// Delete versions of blobs.
        DELETE_VERSION = 'x',
        /// Delete snapshots and versions permanently.
        PERMANENT_DELETE = 'y',
        /// List blobs.
        LIST = 'l',
        /// Read and write tags.
        TAGS = 't',
        /// Find blobs by tags.
        FILTER_BY_TAGS = 'f',
        /// Move blobs; needs a hierarchical namespace.
        MOVE = 'm',
        /// Read system properties; needs a hierarchical namespace.
        EXECUTE = 'e',
        /// Set the owner; needs a hierarchical namespace.
        OWNERSHIP = 'o',
        /// Set POSIX permissions; needs a hierarchical namespace.
        PERMISSIONS = 'p',
        /// Set immutability policies and legal holds.
        IMMUTABILITY = 'i',
    }
}

letter_set! {
    /// The permissions of an account SAS. The letters that an operation needs depend on its service.
    AccountPermissions {
        /// Read resources.
        READ = 'r',
        /// Write resources.
        WRITE = 'w',
        /// Delete resources, except messages.
        DELETE = 'd',
        /// Delete versions of blobs.
        DELETE_VERSION = 'x',
        /// Delete snapshots and versions permanently.
        PERMANENT_DELETE = 'y',
        /// List resources.
        LIST = 'l',
        /// Insert entities, put messages, append blocks.
        ADD = 'a',
        /// Create containers, queues, tables and blobs.
        CREATE = 'c',
        /// Update entities and messages.
        UPDATE = 'u',
        /// Get and delete messages.
        PROCESS = 'p',
        /// Read and write tags.
        TAGS = 't',
        /// Find blobs by tags.
        FILTER_BY_TAGS = 'f',
        /// Set immutability policies and legal holds.
        IMMUTABILITY = 'i',
    }
}

letter_set! {
    /// The services that an account SAS is valid for.
    SignedServices {
        /// Blob Storage.
        BLOB = 'b',
        /// Queue Storage.
        QUEUE = 'q',
        /// Table Storage.
        TABLE = 't',
        /// Azure Files.
        FILE = 'f',
    }
}

letter_set! {
    /// The levels of resources that an account SAS is valid for. In the Table service these are the service's
    /// properties, tables and entities.
    SignedResourceTypes {
        /// The service: its properties, statistics and lists.
        SERVICE = 's',
        /// Tables, queues and containers.
        CONTAINER = 'c',
        /// Entities, messages and blobs.
        OBJECT = 'o',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_in_any_order_and_written_in_the_services() {
        assert_eq!(TablePermissions::parse("duar").unwrap().to_string(), "raud");
        assert_eq!(SignedResourceTypes::parse("soc").unwrap().to_string(), "sco");
        assert_eq!(AccountPermissions::parse("rwdlacup").unwrap().to_string(), "rwdlacup");
        assert_eq!(format!("{:?}", TablePermissions::READ), "TablePermissions(r)");
        assert_eq!(AccountPermissions::LETTERS, "rwdxylacuptfi");
        assert_eq!(BlobPermissions::LETTERS, "racwdxyltfmeopi");
        assert_eq!(QueuePermissions::parse("paur").unwrap().to_string(), "raup");
    }

    #[test]
    fn unknown_letters_are_refused() {
        for letters in ["w", "rq", "R", "r ", "é"] {
            assert_eq!(TablePermissions::parse(letters), None, "{letters:?}");
        }
        assert!(TablePermissions::parse("").unwrap().is_empty());
    }

    #[test]
    fn a_set_contains_its_parts_only() {
        let upsert = TablePermissions::ADD | TablePermissions::UPDATE;
        assert!(TablePermissions::parse("rau").unwrap().contains(upsert));
        assert!(!TablePermissions::parse("ra").unwrap().contains(upsert));
    }
}
