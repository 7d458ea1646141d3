package tablerock.conformance.blobs;

import static tablerock.conformance.Refusals.assertRefused;
import static tablerock.conformance.Refusals.assertRefusedWith;

import com.azure.core.util.BinaryData;
import com.azure.core.util.Context;
import com.azure.storage.blob.models.BlobRequestConditions;
import com.azure.storage.blob.options.BlobBeginCopyOptions;
import com.azure.storage.blob.options.BlockBlobCommitBlockListOptions;
import com.azure.storage.blob.options.BlockBlobSimpleUploadOptions;
import com.azure.storage.blob.specialized.BlobLeaseClientBuilder;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tablerock.conformance.Operation;

/** Each operation on a blob that takes conditions, with each condition. */
class ConditionsTest extends BlobCase {
    private static final String STALE = "\"0x8D6D4168BD4CB41\"";
    private static final String HELD = "11111111-1111-1111-1111-111111111111";
    private static final String OTHER = "22222222-2222-2222-2222-222222222222";

    /** A condition on a blob that was written a moment ago, and whether it holds. */
    enum Kind {
        ITS_ETAG(true), A_STALE_ETAG(false), NOT_ITS_ETAG(false), NOT_A_STALE_ETAG(true), MODIFIED(true),
        MODIFIED_LATER(false), UNMODIFIED(false), UNMODIFIED_LATER(true);

        final boolean holds;

        Kind(boolean holds) {
            this.holds = holds;
        }

        BlobRequestConditions of(String etag) {
            OffsetDateTime now = OffsetDateTime.now();
            BlobRequestConditions conditions = new BlobRequestConditions();
            return switch (this) {
                case ITS_ETAG -> conditions.setIfMatch(etag);
                case A_STALE_ETAG -> conditions.setIfMatch(STALE);
                case NOT_ITS_ETAG -> conditions.setIfNoneMatch(etag);
                case NOT_A_STALE_ETAG -> conditions.setIfNoneMatch(STALE);
                case MODIFIED -> conditions.setIfModifiedSince(now.minusHours(1));
                case MODIFIED_LATER -> conditions.setIfModifiedSince(now.plusHours(1));
                case UNMODIFIED -> conditions.setIfUnmodifiedSince(now.minusHours(1));
                case UNMODIFIED_LATER -> conditions.setIfUnmodifiedSince(now.plusHours(1));
            };
        }

        /** A read that finds no change is answered with 304 rather than refused. */
        boolean asksForAChange() {
            return this == NOT_ITS_ETAG || this == MODIFIED_LATER;
        }
    }

    /** An operation on the blob "b". */
    enum Attempt {
        GET(true) {
            void on(BlobCase test, BlobRequestConditions conditions) {
                test.blob("b").downloadContentWithResponse(null, conditions, null, Context.NONE);
            }
        },
        PROPERTIES(true) {
            void on(BlobCase test, BlobRequestConditions conditions) {
                test.blob("b").getPropertiesWithResponse(conditions, null, Context.NONE);
            }
        },
        PUT(false) {
            void on(BlobCase test, BlobRequestConditions conditions) {
                test.block("b").uploadWithResponse(new BlockBlobSimpleUploadOptions(BinaryData.fromString("new"))
                    .setRequestConditions(conditions), null, Context.NONE);
            }
        },
        PUT_BLOCK_LIST(false) {
            void on(BlobCase test, BlobRequestConditions conditions) {
                test.block("b").commitBlockListWithResponse(new BlockBlobCommitBlockListOptions(List.of())
                    .setRequestConditions(conditions), null, Context.NONE);
            }
        },
        SET_METADATA(false) {
            void on(BlobCase test, BlobRequestConditions conditions) {
                test.blob("b").setMetadataWithResponse(Map.of("a", "b"), conditions, null, Context.NONE);
            }
        },
        SET_PROPERTIES(false) {
            void on(BlobCase test, BlobRequestConditions conditions) {
                test.blob("b").setHttpHeadersWithResponse(everyHeader(), conditions, null, Context.NONE);
            }
        },
        COPY(false) {
            void on(BlobCase test, BlobRequestConditions conditions) {
                test.blob("b").beginCopy(new BlobBeginCopyOptions(test.blob("source").getBlobUrl())
                    .setDestinationRequestConditions(conditions)).waitForCompletion();
            }
        },
        DELETE(false) {
            void on(BlobCase test, BlobRequestConditions conditions) {
                test.blob("b").deleteWithResponse(null, conditions, null, Context.NONE);
            }
        };

        final boolean isRead;

        Attempt(boolean isRead) {
            this.isRead = isRead;
        }

        abstract void on(BlobCase test, BlobRequestConditions conditions);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("GetBlob")
    @EnumSource
    void blobConditionGetIf(Kind kind) {
        check(Attempt.GET, kind);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("GetBlobProperties")
    @EnumSource
    void blobConditionPropertiesIf(Kind kind) {
        check(Attempt.PROPERTIES, kind);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("PutBlob")
    @EnumSource
    void blobConditionPutIf(Kind kind) {
        check(Attempt.PUT, kind);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("PutBlockList")
    @EnumSource
    void blobConditionPutBlockListIf(Kind kind) {
        check(Attempt.PUT_BLOCK_LIST, kind);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("SetBlobMetadata")
    @EnumSource
    void blobConditionSetMetadataIf(Kind kind) {
        check(Attempt.SET_METADATA, kind);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("SetBlobProperties")
    @EnumSource
    void blobConditionSetPropertiesIf(Kind kind) {
        check(Attempt.SET_PROPERTIES, kind);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("CopyBlob")
    @EnumSource
    void blobConditionCopyIf(Kind kind) {
        check(Attempt.COPY, kind);
    }

    @ParameterizedTest(name = "{0}")
    @Operation("DeleteBlob")
    @EnumSource
    void blobConditionDeleteIf(Kind kind) {
        check(Attempt.DELETE, kind);
    }

    private void check(Attempt attempt, Kind kind) {
        put("source", "source");
        BlobRequestConditions conditions = kind.of(put("b", "text"));
        if (kind.holds) {
            attempt.on(this, conditions);
        } else {
            int status = attempt.isRead && kind.asksForAChange() ? 304 : 412;
            if (attempt == Attempt.COPY) {
                // ConditionNotMet or TargetConditionNotMet; the service's documents name both.
                assertRefusedWith(() -> attempt.on(this, conditions), status);
            } else {
                assertRefused(status, "ConditionNotMet", () -> attempt.on(this, conditions));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @Operation("AcquireBlobLease")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"GET", "PROPERTIES"})
    void leasedBlobRefuses(Attempt attempt) {
        put("source", "source");
        put("b", "text");
        new BlobLeaseClientBuilder().blobClient(blob("b")).leaseId(HELD).buildClient().acquireLease(60);
        assertRefused(412, "LeaseIdMissing", () -> attempt.on(this, new BlobRequestConditions()));
        assertRefused(412, "LeaseIdMismatchWithBlobOperation",
            () -> attempt.on(this, new BlobRequestConditions().setLeaseId(OTHER)));
        attempt.on(this, new BlobRequestConditions().setLeaseId(HELD));
    }
}
