package tablerock;

import com.microsoft.azure.storage.CloudStorageAccount;

/** Runs the job that its first argument names, against the account of the second. It fails with an exception. */
public final class Job {
    private Job() {}

    public static void main(String[] arguments) throws Exception {
        CloudStorageAccount account = CloudStorageAccount.parse(arguments[1]);
        switch (arguments[0]) {
            case "blobs" -> Blobs.run(account.createCloudBlobClient());
            case "encryption" -> Encryption.run(account.createCloudTableClient());
            case "queues" -> Queues.run(account.createCloudQueueClient());
            case "tables" -> Tables.run(account.createCloudTableClient());
            default -> throw new IllegalArgumentException("no job is called " + arguments[0]);
        }
    }

    static String newName() {
        return "programs" + java.util.UUID.randomUUID().toString().replace("-", "");
    }

    static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
