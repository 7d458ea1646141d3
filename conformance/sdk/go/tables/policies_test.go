package tables

// Stored access policies, on their own and behind a SAS.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func storedPolicy(id, permission string) *aztables.SignedIdentifier {
	now := time.Now().UTC().Truncate(time.Second)
	return &aztables.SignedIdentifier{ID: &id, AccessPolicy: &aztables.AccessPolicy{
		Start: to.Ptr(now.Add(-time.Hour)), Expiry: to.Ptr(now.Add(time.Hour)), Permission: &permission,
	}}
}

func (c *client) setPolicies(t *T, policies ...*aztables.SignedIdentifier) {
	t.Helper()
	_, err := c.table.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: policies})
	require.NoError(t, err)
}

func (c *client) policies(t *T) []*aztables.SignedIdentifier {
	t.Helper()
	response, err := c.table.GetAccessPolicy(ctx, nil)
	require.NoError(t, err)
	return response.SignedIdentifiers
}

func TestNewTableHasNoPolicies(t *testing.T) {
	conform(t, "GetTableAcl", func(t *T, c *client) {
		require.Empty(t, c.policies(t))
	})
}

func TestPoliciesOfMissingTableAreNotFound(t *testing.T) {
	conform(t, "GetTableAcl", func(t *T, c *client) {
		_, err := c.service.NewClient(newTableName(t)).GetAccessPolicy(ctx, nil)
		requireRefusedWith(t, err, 404)
	})
}

func TestSetPoliciesOfMissingTableIsNotFound(t *testing.T) {
	conform(t, "SetTableAcl", func(t *T, c *client) {
		_, err := c.service.NewClient(newTableName(t)).SetAccessPolicy(ctx, nil)
		requireRefusedWith(t, err, 404)
	})
}

func TestFivePoliciesComeBackAsSet(t *testing.T) {
	conform(t, "SetTableAcl", func(t *T, c *client) {
		var set []*aztables.SignedIdentifier
		for i, permission := range []string{"r", "a", "u", "d", "raud"} {
			set = append(set, storedPolicy(fmt.Sprint("policy", i), permission))
		}
		c.setPolicies(t, set...)
		require.Equal(t, set, c.policies(t))
	})
}

func TestSixPoliciesAreRefused(t *testing.T) {
	conform(t, "SetTableAcl", func(t *T, c *client) {
		var set []*aztables.SignedIdentifier
		for i := range 6 {
			set = append(set, storedPolicy(fmt.Sprint("policy", i), "r"))
		}
		// The SDK replaces the service's error by one of its own, so the answer is read underneath it.
		response, body, err := exchange(t, nil, func(ctx context.Context) error {
			_, err := c.table.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{TableACL: set})
			return err
		})
		require.Error(t, err)
		require.Equal(t, 400, response.StatusCode)
		require.Contains(t, string(body), aztables.InvalidXmlDocument)
	})
}

func TestPolicyIdOf64CharactersIsAccepted(t *testing.T) {
	conform(t, "SetTableAcl", func(t *T, c *client) {
		c.setPolicies(t, storedPolicy(strings.Repeat("i", 64), "r"))
		require.Len(t, c.policies(t), 1)
	})
}

func TestPolicyIdOf65CharactersIsRefused(t *testing.T) {
	conform(t, "SetTableAcl", func(t *T, c *client) {
		_, err := c.table.SetAccessPolicy(ctx, &aztables.SetAccessPolicyOptions{
			TableACL: []*aztables.SignedIdentifier{storedPolicy(strings.Repeat("i", 65), "r")},
		})
		requireRefusedWith(t, err, 400)
	})
}

func TestSettingPoliciesReplacesThemAll(t *testing.T) {
	conform(t, "SetTableAcl", func(t *T, c *client) {
		c.setPolicies(t, storedPolicy("first", "r"), storedPolicy("second", "r"))
		c.setPolicies(t, storedPolicy("third", "r"))
		policies := c.policies(t)
		require.Len(t, policies, 1)
		require.Equal(t, "third", *policies[0].ID)
		c.setPolicies(t)
		require.Empty(t, c.policies(t))
	})
}

func TestPolicyMayLeaveOutFields(t *testing.T) {
	conform(t, "SetTableAcl", func(t *T, c *client) {
		permissions := &aztables.AccessPolicy{Permission: to.Ptr("r")}
		c.setPolicies(t, &aztables.SignedIdentifier{ID: to.Ptr("partial"), AccessPolicy: permissions})
		policies := c.policies(t)
		require.Len(t, policies, 1)
		require.Equal(t, "r", *policies[0].AccessPolicy.Permission)
		require.Nil(t, policies[0].AccessPolicy.Start)
		require.Nil(t, policies[0].AccessPolicy.Expiry)
	})
}

func TestSasTakesItsTermsFromThePolicy(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.setPolicies(t, storedPolicy("reader", "r"))
		table := c.tableSAS(t, aztables.SASSignatureValues{Identifier: "reader"})
		c.eventually(t, func() bool {
			_, err := table.NewListEntitiesPager(nil).NextPage(ctx)
			return err == nil
		})
		_, err := table.AddEntity(ctx, row(t, "p", "r", nil), nil)
		requireRefused(t, err, 403, permissionMismatch)
	})
}

func TestRevokedPolicyEndsItsSas(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.setPolicies(t, storedPolicy("reader", "r"))
		table := c.tableSAS(t, aztables.SASSignatureValues{Identifier: "reader"})
		attempt := func() error {
			_, err := table.NewListEntitiesPager(nil).NextPage(ctx)
			return err
		}
		c.eventually(t, func() bool { return attempt() == nil })
		c.setPolicies(t)
		c.eventually(t, func() bool { return attempt() != nil })
		requireRefused(t, attempt(), 403, authenticationFailed)
	})
}

func TestExpiredPolicyEndsItsSas(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		expired := storedPolicy("reader", "r")
		expired.AccessPolicy.Expiry = to.Ptr(expired.AccessPolicy.Start.Add(time.Minute))
		c.setPolicies(t, expired)
		_, err := c.tableSAS(t, aztables.SASSignatureValues{Identifier: "reader"}).NewListEntitiesPager(nil).NextPage(ctx)
		requireRefused(t, err, 403, authenticationFailed)
	})
}

// The policy brings the permissions, the token the time.
func TestSasCompletesAPartialPolicy(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		permissions := &aztables.AccessPolicy{Permission: to.Ptr("r")}
		c.setPolicies(t, &aztables.SignedIdentifier{ID: to.Ptr("reader"), AccessPolicy: permissions})
		table := c.tableSAS(t, aztables.SASSignatureValues{Identifier: "reader", ExpiryTime: time.Now().UTC().Add(time.Hour)})
		c.eventually(t, func() bool {
			_, err := table.NewListEntitiesPager(nil).NextPage(ctx)
			return err == nil
		})
	})
}
