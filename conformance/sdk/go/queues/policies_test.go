package queues

// Stored access policies, and what they do for the signatures that name them.

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/sas"
	"github.com/stretchr/testify/require"
)

func storedPolicy(id, permission string) *azqueue.SignedIdentifier {
	now := time.Now().UTC().Truncate(time.Second)
	return &azqueue.SignedIdentifier{ID: to.Ptr(id), AccessPolicy: &azqueue.AccessPolicy{
		Start: to.Ptr(now.Add(-time.Hour)), Expiry: to.Ptr(now.Add(time.Hour)), Permission: to.Ptr(permission),
	}}
}

func (c *client) setPolicies(t *T, policies ...*azqueue.SignedIdentifier) {
	t.Helper()
	_, err := c.queue.SetAccessPolicy(ctx, &azqueue.SetAccessPolicyOptions{QueueACL: policies})
	require.NoError(t, err)
}

func (c *client) policies(t *T) []*azqueue.SignedIdentifier {
	t.Helper()
	response, err := c.queue.GetAccessPolicy(ctx, nil)
	require.NoError(t, err)
	return response.SignedIdentifiers
}

func TestNewQueueHasNoPolicies(t *testing.T) {
	conform(t, "GetQueueACL", func(t *T, c *client) {
		require.Empty(t, c.policies(t))
	})
}

func TestQueuePoliciesComeBackAsSet(t *testing.T) {
	conform(t, "SetQueueACL", func(t *T, c *client) {
		set := []*azqueue.SignedIdentifier{storedPolicy("one", "r"), storedPolicy("two", "raup")}
		c.setPolicies(t, set...)
		found := c.policies(t)
		require.Len(t, found, 2)
		for i, policy := range found {
			require.Equal(t, *set[i].ID, *policy.ID)
			require.Equal(t, *set[i].AccessPolicy.Permission, *policy.AccessPolicy.Permission)
			require.WithinDuration(t, *set[i].AccessPolicy.Start, *policy.AccessPolicy.Start, 0)
			require.WithinDuration(t, *set[i].AccessPolicy.Expiry, *policy.AccessPolicy.Expiry, 0)
		}
	})
}

func TestQueuePoliciesAreReplacedAndCleared(t *testing.T) {
	conform(t, "SetQueueACL", func(t *T, c *client) {
		c.setPolicies(t, storedPolicy("one", "r"), storedPolicy("two", "a"))
		c.setPolicies(t, storedPolicy("three", "u"))
		found := c.policies(t)
		require.Len(t, found, 1)
		require.Equal(t, "three", *found[0].ID)
		c.setPolicies(t)
		require.Empty(t, c.policies(t))
	})
}

func TestQueuePoliciesAreRefused(t *testing.T) {
	for name, policies := range map[string][]*azqueue.SignedIdentifier{
		"when there are six": {
			storedPolicy("1", "r"), storedPolicy("2", "r"), storedPolicy("3", "r"),
			storedPolicy("4", "r"), storedPolicy("5", "r"), storedPolicy("6", "r"),
		},
		"with a permission that queues lack": {storedPolicy("1", "rx")},
		"with an id of 65 characters":        {storedPolicy(strings.Repeat("i", 65), "r")},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "SetQueueACL", func(t *T, c *client) {
				_, err := c.queue.SetAccessPolicy(ctx, &azqueue.SetAccessPolicyOptions{QueueACL: policies})
				requireRefused(t, err, 400, "InvalidXmlDocument")
			})
		})
	}
}

func TestQueuePolicyGivesItsPermissions(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.setPolicies(t, storedPolicy("reader", "r"))
		queue := c.sas(t, sas.QueueSignatureValues{Identifier: "reader"})
		c.account.EventuallyWorks(t, func() error {
			_, err := queue.PeekMessage(ctx, nil)
			return err
		})
		_, err := queue.EnqueueMessage(ctx, "text", nil)
		requireRefused(t, err, 403, permissionMismatch)
	})
}

func TestQueueSasCompletesAPolicy(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		half := storedPolicy("half", "r")
		half.AccessPolicy.Permission = nil
		c.setPolicies(t, half)
		queue := c.sas(t, sas.QueueSignatureValues{Identifier: "half", Permissions: "a"})
		c.account.EventuallyWorks(t, func() error {
			_, err := queue.EnqueueMessage(ctx, "text", nil)
			return err
		})
	})
}

func TestRevokedQueuePolicyEndsItsSas(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		c.setPolicies(t, storedPolicy("reader", "r"))
		queue := c.sas(t, sas.QueueSignatureValues{Identifier: "reader"})
		c.account.EventuallyWorks(t, func() error {
			_, err := queue.PeekMessage(ctx, nil)
			return err
		})
		c.setPolicies(t)
		var err error
		c.account.Eventually(t, func() bool {
			_, err = queue.PeekMessage(ctx, nil)
			return err != nil
		})
		requireRefused(t, err, 403, authenticationFailed)
	})
}

func TestExpiredQueuePolicyEndsItsSas(t *testing.T) {
	conform(t, "Authentication", func(t *T, c *client) {
		expired := storedPolicy("reader", "r")
		expired.AccessPolicy.Expiry = to.Ptr(expired.AccessPolicy.Start.Add(time.Minute))
		c.setPolicies(t, expired)
		_, err := c.sas(t, sas.QueueSignatureValues{Identifier: "reader"}).PeekMessage(ctx, nil)
		requireRefused(t, err, 403, authenticationFailed)
	})
}
