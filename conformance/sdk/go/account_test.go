package conformance

// Where the service is and how a case reaches it: the connection string, clients for each kind of credential,
// and the one table each case owns.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

const developmentConnection = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;" +
	"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;" +
	"TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"

// ctx is shared by all requests; `go test` bounds the whole run.
var ctx = context.Background()

type account struct {
	connection string
	name       string
	key        string
	endpoint   string
}

func accountFromEnvironment() account {
	connection := os.Getenv("CONFORMANCE_CONNECTION_STRING")
	if connection == "" || strings.HasPrefix(connection, "UseDevelopmentStorage=true") {
		connection = developmentConnection
	}
	settings := map[string]string{"DefaultEndpointsProtocol": "https", "EndpointSuffix": "core.windows.net"}
	for _, setting := range strings.Split(connection, ";") {
		if name, value, found := strings.Cut(setting, "="); found {
			settings[name] = value
		}
	}
	endpoint, found := settings["TableEndpoint"]
	if !found {
		endpoint = settings["DefaultEndpointsProtocol"] + "://" + settings["AccountName"] + ".table." + settings["EndpointSuffix"]
	}
	return account{connection, settings["AccountName"], settings["AccountKey"], strings.TrimSuffix(endpoint, "/")}
}

// secondary is the endpoint of the read-only copy: the account's name gains a suffix, in the path or in the host.
func (a account) secondary() string {
	return strings.Replace(a.endpoint, a.name, a.name+"-secondary", 1)
}

func (a account) credential(t *T) *aztables.SharedKeyCredential {
	credential, err := aztables.NewSharedKeyCredential(a.name, a.key)
	require.NoError(t, err)
	return credential
}

// settleTime is how long a change of policies or properties may take to be in force. A real account needs up to
// half a minute; a server on this machine has no excuse.
func (a account) settleTime() time.Duration {
	address, err := url.Parse(a.endpoint)
	if err == nil && (address.Hostname() == "localhost" || net.ParseIP(address.Hostname()).IsLoopback()) {
		return 0
	}
	return 40 * time.Second
}

// impatient makes clients that do not retry: each case wants the first answer.
func impatient() *aztables.ClientOptions {
	options := &aztables.ClientOptions{}
	options.Retry = policy.RetryOptions{MaxRetries: -1}
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
	account := accountFromEnvironment()
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
	random := make([]byte, 8)
	_, err := rand.Read(random)
	require.NoError(t, err)
	return "Go" + hex.EncodeToString(random)
}

// eventually repeats an attempt for as long as the service may need to apply a setting.
func (c *client) eventually(t *T, attempt func() bool) {
	t.Helper()
	deadline := time.Now().Add(c.account.settleTime())
	for !attempt() {
		require.False(t, time.Now().After(deadline), "the setting did not take effect")
		time.Sleep(time.Second)
	}
}
