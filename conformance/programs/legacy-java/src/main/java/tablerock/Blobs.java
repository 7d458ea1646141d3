package tablerock;

import com.microsoft.azure.storage.AccessCondition;
import com.microsoft.azure.storage.blob.BlobListingDetails;
import com.microsoft.azure.storage.blob.BlockEntry;
import com.microsoft.azure.storage.blob.BlockListingFilter;
import com.microsoft.azure.storage.blob.CloudAppendBlob;
import com.microsoft.azure.storage.blob.CloudBlobClient;
import com.microsoft.azure.storage.blob.CloudBlobContainer;
import com.microsoft.azure.storage.blob.CloudBlockBlob;
import com.microsoft.azure.storage.blob.DeleteSnapshotsOption;
import com.microsoft.azure.storage.blob.ListBlobItem;
import java.io.ByteArrayInputStream;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;

/** Blocks, lists of them, leases, snapshots, copies. */
final class Blobs {
    private Blobs() {}

    static void run(CloudBlobClient client) throws Exception {
        CloudBlobContainer container = client.getContainerReference(Job.newName());
        Job.check(container.createIfNotExists(), "the container is new");
        Job.check(!container.createIfNotExists(), "the container is there");
        try {
            blocks(container.getBlockBlobReference("folder/blocks"));
            leases(container.getBlockBlobReference("folder/blocks"));
            copies(container);
            appends(container.getAppendBlobReference("log"));
        } finally {
            Job.check(container.deleteIfExists(), "the container was there");
        }
    }

    private static void blocks(CloudBlockBlob blob) throws Exception {
        Job.check(!blob.exists(), "the blob is new");
        List<BlockEntry> entries = List.of(new BlockEntry("MDE="), new BlockEntry("MDI="));
        for (BlockEntry entry : entries) {
            blob.uploadBlock(entry.getId(), new ByteArrayInputStream(new byte[1000]), 1000);
        }
        Job.check(blob.downloadBlockList(BlockListingFilter.UNCOMMITTED, null, null, null).size() == 2, "uncommitted");
        blob.commitBlockList(entries);
        Job.check(blob.downloadBlockList().size() == 2, "committed");
        Job.check(blob.downloadBlockList(BlockListingFilter.ALL, null, null, null).size() == 2, "all");
        blob.uploadText("text");
        Job.check(blob.downloadText().equals("text"), "the text comes back");
    }

    private static void leases(CloudBlockBlob blob) throws Exception {
        String lease = blob.acquireLease(15, null);
        blob.getMetadata().put("key", "value");
        blob.uploadMetadata(AccessCondition.generateLeaseCondition(lease), null, null);
        blob.releaseLease(AccessCondition.generateLeaseCondition(lease));
        blob.downloadAttributes();
        Job.check(blob.getMetadata().equals(new java.util.HashMap<>(Map.of("key", "value"))), "the metadata is kept");
    }

    private static void copies(CloudBlobContainer container) throws Exception {
        CloudBlockBlob source = container.getBlockBlobReference("folder/blocks");
        source.createSnapshot();
        CloudBlockBlob copy = container.getBlockBlobReference("copy");
        copy.startCopy(source);
        copy.downloadAttributes();
        Job.check(copy.downloadText().equals("text"), "the copy has the text");
        int listed = 0;
        EnumSet<BlobListingDetails> details = EnumSet.allOf(BlobListingDetails.class);
        details.remove(BlobListingDetails.DELETED);
        for (ListBlobItem item : container.listBlobs(null, true, details, null, null)) {
            Job.check(item.getContainer().getName().equals(container.getName()), "the container of " + item.getUri());
            listed++;
        }
        Job.check(listed == 3, "two blobs and a snapshot are listed, not " + listed);
        source.delete(DeleteSnapshotsOption.INCLUDE_SNAPSHOTS, null, null, null);
        Job.check(!source.deleteIfExists(), "the blob is gone");
    }

    private static void appends(CloudAppendBlob log) throws Exception {
        log.createOrReplace();
        log.appendText("a");
        log.appendText("b");
        byte[] content = new byte[3];
        Job.check(log.downloadToByteArray(content, 0) == 2, "both lines are there");
        Job.check(content[0] == 'a' && content[1] == 'b', "the lines are in order");
    }
}
