package tables

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

// allowances lists what an account SAS can open, with the resource type and the letters each needs.
var allowances = []struct {
	name, resource, permissions string
	attempt                     func(t *T, c *client, service *aztables.ServiceClient) error
}{
	{"get properties", "s", "r", func(t *T, c *client, service *aztables.ServiceClient) error {
		_, err := service.GetProperties(ctx, nil)
		return err
	}},
	{"list tables", "c", "l", func(t *T, c *client, service *aztables.ServiceClient) error {
		_, err := service.NewListTablesPager(nil).NextPage(ctx)
		return err
	}},
	{"create table", "c", "c", func(t *T, c *client, service *aztables.ServiceClient) error {
		name := newTableName(t)
		c.deleteAfterwards(t, name)
		_, err := service.CreateTable(ctx, name, nil)
		return err
	}},
	{"delete table", "c", "d", func(t *T, c *client, service *aztables.ServiceClient) error {
		_, err := service.DeleteTable(ctx, c.name, nil)
		return err
	}},
	{"query", "o", "r", func(t *T, c *client, service *aztables.ServiceClient) error {
		_, err := service.NewClient(c.name).NewListEntitiesPager(nil).NextPage(ctx)
		return err
	}},
	{"insert", "o", "a", func(t *T, c *client, service *aztables.ServiceClient) error {
		_, err := service.NewClient(c.name).AddEntity(ctx, row(t, "p", "new", nil), nil)
		return err
	}},
	{"update", "o", "u", func(t *T, c *client, service *aztables.ServiceClient) error {
		_, err := service.NewClient(c.name).UpdateEntity(ctx, row(t, "p", "r", nil), replacing)
		return err
	}},
	{"upsert", "o", "au", func(t *T, c *client, service *aztables.ServiceClient) error {
		_, err := service.NewClient(c.name).UpsertEntity(ctx, row(t, "p", "r", nil), upsertMerging)
		return err
	}},
	{"delete", "o", "d", func(t *T, c *client, service *aztables.ServiceClient) error {
		_, err := service.NewClient(c.name).DeleteEntity(ctx, "p", "r", nil)
		return err
	}},
}

func TestAccountSasPermits(t *testing.T) {
	for _, each := range allowances {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.add(t, row(t, "p", "r", nil))
				token := aztables.AccountSASSignatureValues{ResourceTypes: each.resource, Permissions: each.permissions}
				require.NoError(t, each.attempt(t, c, c.accountSAS(t, token)))
			})
		})
	}
}

// A missing c is made good by w when a table is created, but nothing stands in for the other letters; in
// particular w does not allow an insert.
func TestAccountSasWithoutPermissionRefuses(t *testing.T) {
	for _, each := range allowances {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.add(t, row(t, "p", "r", nil))
				for _, letter := range each.permissions {
					others := strings.ReplaceAll("rwdlacup", string(letter), "")
					if letter == 'c' {
						others = "rdlaup"
					}
					service := c.accountSAS(t, aztables.AccountSASSignatureValues{ResourceTypes: "sco", Permissions: others})
					requireRefused(t, each.attempt(t, c, service), 403, permissionMismatch)
				}
			})
		})
	}
}

func TestAccountSasWithoutResourceTypeRefuses(t *testing.T) {
	for _, each := range allowances {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.add(t, row(t, "p", "r", nil))
				others := strings.ReplaceAll("sco", each.resource, "")
				service := c.accountSAS(t, aztables.AccountSASSignatureValues{ResourceTypes: others, Permissions: "rwdlacup"})
				requireRefused(t, each.attempt(t, c, service), 403, "AuthorizationResourceTypeMismatch")
			})
		})
	}
}

func TestAccountSasWithWriteMayCreateATable(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		name := newTableName(t)
		c.deleteAfterwards(t, name)
		service := c.accountSAS(t, aztables.AccountSASSignatureValues{ResourceTypes: "c", Permissions: "w"})
		_, err := service.CreateTable(ctx, name, nil)
		require.NoError(t, err)
	})
}

func TestAccountSasTakesATransaction(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		service := c.accountSAS(t, aztables.AccountSASSignatureValues{ResourceTypes: "o", Permissions: "a"})
		actions := []aztables.TransactionAction{action(aztables.TransactionTypeAdd, row(t, "p", "1", nil))}
		_, err := service.NewClient(c.name).SubmitTransaction(ctx, actions, nil)
		require.NoError(t, err)
	})
}

func TestAccountSasIsRefusedWhen(t *testing.T) {
	now := time.Now().UTC()
	cases := []struct {
		name  string
		token aztables.AccountSASSignatureValues
		code  string
	}{
		{"expired", aztables.AccountSASSignatureValues{ExpiryTime: now.Add(-time.Hour)}, authenticationFailed},
		{"not yet valid", aztables.AccountSASSignatureValues{
			StartTime: now.Add(time.Hour), ExpiryTime: now.Add(2 * time.Hour),
		}, authenticationFailed},
		{"for other services", aztables.AccountSASSignatureValues{Services: "bqf"}, "AuthorizationServiceMismatch"},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				each.token.ResourceTypes, each.token.Permissions = "sco", "rwdlacup"
				_, err := c.accountSAS(t, each.token).NewListTablesPager(nil).NextPage(ctx)
				requireRefused(t, err, 403, each.code)
			})
		})
	}
}

// The URL that the client itself makes is good for https only.
func TestAccountSasUrlOfTheClient(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		now := time.Now().UTC()
		resources, permissions := aztables.AccountSASResourceTypes{Container: true}, aztables.AccountSASPermissions{List: true}
		address, err := c.service.GetAccountSASURL(resources, permissions, now.Add(-time.Minute), now.Add(time.Hour))
		require.NoError(t, err)
		service, err := aztables.NewServiceClientWithNoCredential(address, impatient())
		require.NoError(t, err)
		_, err = service.NewListTablesPager(nil).NextPage(ctx)
		if strings.HasPrefix(c.account.endpoint, "https:") {
			require.NoError(t, err)
		} else {
			requireRefused(t, err, 403, "AuthorizationProtocolMismatch")
		}
	})
}
