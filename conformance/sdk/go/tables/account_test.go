// Package tables drives a table service through Microsoft's aztables module.
//
// This file owns what every case works with: clients for the account under test, and the one table each case owns.
package tables

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"

	"tablerock/conformance/sdk/go/harness"
)

type T = harness.T

var (
	ctx                = harness.Ctx
	exchange           = harness.Exchange
	requireRefused     = harness.RequireRefused
	requireRefusedWith = harness.RequireRefusedWith
)

// conform runs one case of an operation against a table of its own.
func conform(t *testing.T, operation string, body func(t *T, c *client)) {
	t.Helper()
	harness.Run(t, operation, func(t *T) { body(t, newClient(t)) })
}

type account struct {
	harness.Account
	endpoint string
}

func (a account) secondary() string {
	return a.Secondary("Table")
}

func (a account) credential(t *T) *aztables.SharedKeyCredential {
	credential, err := aztables.NewSharedKeyCredential(a.Name, a.Key)
	require.NoError(t, err)
	return credential
}

// impatient makes clients that do not retry: each case wants the first answer.
func impatient() *aztables.ClientOptions {
	options := &aztables.ClientOptions{}
	options.Retry = harness.Impatient
	return options
}

// client is what a case works with: the account, a service client with its key, and a table created for the case.
type client struct {
	account account
	service *aztables.ServiceClient
	table   *aztables.Client
	name    string
}

func newClient(t *T) *client {
	t.Helper()
	found := harness.AccountFromEnvironment()
	account := account{found, found.Endpoint("Table")}
	service, err := aztables.NewServiceClientWithSharedKey(account.endpoint, account.credential(t), impatient())
	require.NoError(t, err)
	c := &client{account: account, service: service}
	c.name = c.newTable(t)
	c.table = service.NewClient(c.name)
	return c
}

// newTable creates one more table that goes away with the case.
func (c *client) newTable(t *T) string {
	t.Helper()
	name := newTableName(t)
	_, err := c.service.CreateTable(ctx, name, nil)
	require.NoError(t, err)
	c.deleteAfterwards(t, name)
	return name
}

// deleteAfterwards ignores failures: the case may have deleted the table itself.
func (c *client) deleteAfterwards(t *T, name string) {
	t.Cleanup(func() { _, _ = c.service.DeleteTable(ctx, name, nil) })
}

func newTableName(t *T) string {
	t.Helper()
	return harness.NewName(t, "Go")
}

// eventually repeats an attempt for as long as the service may need to apply a setting.
func (c *client) eventually(t *T, attempt func() bool) {
	t.Helper()
	c.account.Eventually(t, attempt)
}
