package tables

import (
	"encoding/base64"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func TestConnectionStringOpensTheAccount(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		service, err := aztables.NewServiceClientFromConnectionString(c.account.Connection, impatient())
		require.NoError(t, err)
		_, err = service.NewClient(c.name).AddEntity(ctx, row(t, "p", "r", nil), nil)
		require.NoError(t, err)
	})
}

func TestEndpointAndSharedKeyOpenATable(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		table, err := aztables.NewClientWithSharedKey(c.account.endpoint+"/"+c.name, c.account.credential(t), impatient())
		require.NoError(t, err)
		_, err = table.AddEntity(ctx, row(t, "p", "r", nil), nil)
		require.NoError(t, err)
	})
}

func TestEndpointMayEndInASlash(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		service, err := aztables.NewServiceClientWithSharedKey(c.account.endpoint+"/", c.account.credential(t), impatient())
		require.NoError(t, err)
		_, err = service.NewClient(c.name).AddEntity(ctx, row(t, "p", "r", nil), nil)
		require.NoError(t, err)
		_, err = service.GetProperties(ctx, nil)
		require.NoError(t, err)
	})
}

func TestWrongKeyIsRefused(t *testing.T) {
	attempts := map[string]func(service *aztables.ServiceClient, table string) error{
		"by query tables": func(service *aztables.ServiceClient, table string) error {
			_, err := service.NewListTablesPager(nil).NextPage(ctx)
			return err
		},
		"by get entity": func(service *aztables.ServiceClient, table string) error {
			_, err := service.NewClient(table).GetEntity(ctx, "p", "r", nil)
			return err
		},
		"by transaction": func(service *aztables.ServiceClient, table string) error {
			_, err := service.NewClient(table).SubmitTransaction(ctx, []aztables.TransactionAction{
				action(aztables.TransactionTypeDelete, []byte(`{"PartitionKey":"p","RowKey":"r"}`)),
			}, nil)
			return err
		},
		"by get properties": func(service *aztables.ServiceClient, table string) error {
			_, err := service.GetProperties(ctx, nil)
			return err
		},
	}
	for name, attempt := range attempts {
		t.Run(name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				key := base64.StdEncoding.EncodeToString([]byte("not the key"))
				wrong, err := aztables.NewSharedKeyCredential(c.account.Name, key)
				require.NoError(t, err)
				service, err := aztables.NewServiceClientWithSharedKey(c.account.endpoint, wrong, impatient())
				require.NoError(t, err)
				requireRefused(t, attempt(service, c.name), 403, authenticationFailed)
			})
		})
	}
}

// Which of these statuses an anonymous request of this version gets is not settled; that it gets nothing is.
func TestAnonymousRequestIsRefused(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		service, err := aztables.NewServiceClientWithNoCredential(c.account.endpoint, impatient())
		require.NoError(t, err)
		_, err = service.NewListTablesPager(nil).NextPage(ctx)
		requireRefusedWith(t, err, 401, 403, 404)
	})
}
