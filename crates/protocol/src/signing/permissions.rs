//! What a SAS allows, as sets: permissions (`sp`), services (`ss`) and resource types (`srt`).

use super::letter_set::letter_set;

letter_set! {
    /// What the SAS of a table allows. An upsert needs both `ADD` and `UPDATE`.
    TablePermissions {
        READ = 'r',
        ADD = 'a',
        UPDATE = 'u',
        DELETE = 'd',
    }
}

letter_set! {
    /// What the SAS of a queue allows.
    QueuePermissions {
        /// Peek, and the queue's metadata.
        READ = 'r',
        ADD = 'a',
        UPDATE = 'u',
        /// Get and delete messages.
        PROCESS = 'p',
    }
}

letter_set! {
    /// What the SAS of a container or a blob allows.
    BlobPermissions {
        READ = 'r',
        ADD = 'a',
        CREATE = 'c',
        WRITE = 'w',
        DELETE = 'd',
        DELETE_VERSION = 'x',
        PERMANENT_DELETE = 'y',
        LIST = 'l',
        TAGS = 't',
        FILTER_BY_TAGS = 'f',
        MOVE = 'm',
        EXECUTE = 'e',
        OWNERSHIP = 'o',
        PERMISSIONS = 'p',
        IMMUTABILITY = 'i',
    }
}

letter_set! {
    /// What an account SAS allows; which letters an operation needs depends on its service.
    AccountPermissions {
        READ = 'r',
        WRITE = 'w',
        DELETE = 'd',
        DELETE_VERSION = 'x',
        PERMANENT_DELETE = 'y',
        LIST = 'l',
        ADD = 'a',
        CREATE = 'c',
        UPDATE = 'u',
        PROCESS = 'p',
        TAGS = 't',
        FILTER_BY_TAGS = 'f',
        IMMUTABILITY = 'i',
    }
}

letter_set! {
    /// The services that an account SAS is good for.
    SignedServices {
        BLOB = 'b',
        QUEUE = 'q',
        TABLE = 't',
        FILE = 'f',
    }
}

letter_set! {
    /// The levels of resources that an account SAS is good for. In the Table service these are the service's
    /// properties, tables and entities.
    SignedResourceTypes {
        SERVICE = 's',
        CONTAINER = 'c',
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
