package tables

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

const (
	authenticationFailed = "AuthenticationFailed"
	permissionMismatch   = "AuthorizationPermissionMismatch"
)

// permitted lists what a holder of a token may try, and the letters it needs.
var permitted = []struct {
	name, permissions string
	attempt           func(t *T, table *aztables.Client) error
}{
	{"query", "r", func(t *T, table *aztables.Client) error {
		_, err := table.NewListEntitiesPager(nil).NextPage(ctx)
		return err
	}},
	{"get", "r", func(t *T, table *aztables.Client) error {
		_, err := table.GetEntity(ctx, "p", "r", nil)
		return err
	}},
	{"insert", "a", func(t *T, table *aztables.Client) error {
		_, err := table.AddEntity(ctx, row(t, "p", "new", nil), nil)
		return err
	}},
	{"replace", "u", func(t *T, table *aztables.Client) error {
		_, err := table.UpdateEntity(ctx, row(t, "p", "r", nil), replacing)
		return err
	}},
	{"merge", "u", func(t *T, table *aztables.Client) error {
		_, err := table.UpdateEntity(ctx, row(t, "p", "r", nil), merging)
		return err
	}},
	{"upsert", "au", func(t *T, table *aztables.Client) error {
		_, err := table.UpsertEntity(ctx, row(t, "p", "r", nil), upsertMerging)
		return err
	}},
	{"delete", "d", func(t *T, table *aztables.Client) error {
		_, err := table.DeleteEntity(ctx, "p", "r", nil)
		return err
	}},
}

func TestTableSasPermits(t *testing.T) {
	for _, each := range permitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.add(t, row(t, "p", "r", nil))
				require.NoError(t, each.attempt(t, c.tableSAS(t, aztables.SASSignatureValues{Permissions: each.permissions})))
			})
		})
	}
}

func TestTableSasWithoutPermissionRefuses(t *testing.T) {
	for _, each := range permitted {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				c.add(t, row(t, "p", "r", nil))
				// Every needed letter is needed: leave out one at a time.
				for _, letter := range each.permissions {
					others := strings.ReplaceAll("raud", string(letter), "")
					err := each.attempt(t, c.tableSAS(t, aztables.SASSignatureValues{Permissions: others}))
					requireRefused(t, err, 403, permissionMismatch)
				}
			})
		})
	}
}

func TestTableSasUrlOfTheClientWorks(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", nil))
		now := time.Now().UTC()
		address, err := c.table.GetTableSASURL(aztables.SASPermissions{Read: true}, now.Add(-time.Minute), now.Add(time.Hour))
		require.NoError(t, err)
		// The SDK joins endpoint and table without a slash when the endpoint has none at its end.
		address = strings.Replace(address, c.account.endpoint+c.name, c.account.endpoint+"/"+c.name, 1)
		table, err := aztables.NewClientWithNoCredential(address, impatient())
		require.NoError(t, err)
		_, err = table.GetEntity(ctx, "p", "r", nil)
		require.NoError(t, err)
	})
}

func TestTableSasIgnoresTheCaseOfTheTable(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", nil))
		table := c.tableSAS(t, aztables.SASSignatureValues{Permissions: "r", TableName: strings.ToUpper(c.name)})
		require.Len(t, list(t, table, nil), 1)
	})
}

func TestTableSasTakesATransaction(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		table := c.tableSAS(t, aztables.SASSignatureValues{Permissions: "a"})
		_, err := table.SubmitTransaction(ctx, []aztables.TransactionAction{
			action(aztables.TransactionTypeAdd, row(t, "p", "1", nil)),
			action(aztables.TransactionTypeAdd, row(t, "p", "2", nil)),
		}, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"1", "2"}, rowKeys(c.list(t, nil)))
	})
}

func TestTableSasIsRefusedWhen(t *testing.T) {
	now := time.Now().UTC()
	elsewhere := aztables.IPRange{Start: net.ParseIP("203.0.113.7")}
	cases := []struct {
		name  string
		token aztables.SASSignatureValues
		code  string
	}{
		{"expired", aztables.SASSignatureValues{Permissions: "r", ExpiryTime: now.Add(-time.Hour)}, authenticationFailed},
		{"not yet valid", aztables.SASSignatureValues{
			Permissions: "r", StartTime: now.Add(time.Hour), ExpiryTime: now.Add(2 * time.Hour),
		}, authenticationFailed},
		{"naming an unknown policy", aztables.SASSignatureValues{Identifier: "unknown"}, authenticationFailed},
		{"for another address", aztables.SASSignatureValues{
			Permissions: "r", IPRange: elsewhere,
		}, "AuthorizationSourceIPMismatch"},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "Authentication", func(t *T, c *client) {
				_, err := c.tableSAS(t, each.token).NewListEntitiesPager(nil).NextPage(ctx)
				requireRefused(t, err, 403, each.code)
			})
		})
	}
}

func TestTableSasForAnyAddressIsAccepted(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		everywhere := aztables.IPRange{Start: net.ParseIP("0.0.0.0"), End: net.ParseIP("255.255.255.255")}
		table := c.tableSAS(t, aztables.SASSignatureValues{
			Permissions: "r", IPRange: everywhere, Protocol: aztables.SASProtocolHTTPSandHTTP,
		})
		require.Empty(t, list(t, table, nil))
	})
}

func TestTableSasForHttpsIsRefusedOverHttp(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		if strings.HasPrefix(c.account.endpoint, "https:") {
			t.Skip("the account is reached over https")
		}
		table := c.tableSAS(t, aztables.SASSignatureValues{Permissions: "r", Protocol: aztables.SASProtocolHTTPS})
		_, err := table.NewListEntitiesPager(nil).NextPage(ctx)
		requireRefused(t, err, 403, "AuthorizationProtocolMismatch")
	})
}

func TestTableSasIsRefusedForAnotherTable(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		table := c.tableSAS(t, aztables.SASSignatureValues{Permissions: "raud", TableName: c.newTable(t)})
		_, err := table.NewListEntitiesPager(nil).NextPage(ctx)
		requireRefusedWith(t, err, 403)
	})
}

func TestTableSasCannotCreateATable(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		_, err := c.tableSAS(t, aztables.SASSignatureValues{Permissions: "raud"}).CreateTable(ctx, nil)
		requireRefusedWith(t, err, 403)
	})
}

func TestTableSasCannotReadPolicies(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		_, err := c.tableSAS(t, aztables.SASSignatureValues{Permissions: "raud"}).GetAccessPolicy(ctx, nil)
		requireRefusedWith(t, err, 403, 404)
	})
}
