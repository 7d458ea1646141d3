package tablerock.conformance.tables;

import com.azure.data.tables.TableClient;
import com.azure.data.tables.TableServiceClient;
import com.azure.data.tables.sas.TableAccountSasPermission;
import com.azure.data.tables.sas.TableAccountSasResourceType;
import com.azure.data.tables.sas.TableAccountSasService;
import com.azure.data.tables.sas.TableAccountSasSignatureValues;
import com.azure.data.tables.sas.TableSasPermission;
import com.azure.data.tables.sas.TableSasSignatureValues;
import java.time.OffsetDateTime;

/** Clients that hold a shared access signature instead of the key. */
final class Sas {
    private Sas() {
    }

    /** The values of a table token that is good for an hour. */
    static TableSasSignatureValues token(String permissions) {
        return new TableSasSignatureValues(OffsetDateTime.now().plusHours(1), TableSasPermission.parse(permissions));
    }

    static TableClient open(TableClient table, TableSasSignatureValues token) {
        return open(table, table.generateSas(token));
    }

    static TableClient open(TableClient table, String token) {
        return Case.ACCOUNT.tableBuilder(table.getTableName()).sasToken(token).buildClient();
    }

    /** The values of an account token for the table service that is good for an hour. */
    static TableAccountSasSignatureValues accountToken(String resources, String permissions) {
        return accountToken("t", resources, permissions, OffsetDateTime.now().plusHours(1));
    }

    static TableAccountSasSignatureValues accountToken(String services, String resources, String permissions,
        OffsetDateTime expiry) {
        return new TableAccountSasSignatureValues(expiry, TableAccountSasPermission.parse(permissions),
            TableAccountSasService.parse(services), TableAccountSasResourceType.parse(resources));
    }

    static TableServiceClient open(TableAccountSasSignatureValues token) {
        return Case.ACCOUNT.serviceBuilder().sasToken(Case.SERVICE.generateAccountSas(token)).buildClient();
    }
}
