package harness

// Where the three services are, as the connection string says.

import (
	"crypto/rand"
	"encoding/hex"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/stretchr/testify/require"
)

const developmentConnection = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;" +
	"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;" +
	"BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;" +
	"QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;" +
	"TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"

// Account is the account under test.
type Account struct {
	Connection string
	Name       string
	Key        string
	settings   map[string]string
}

func AccountFromEnvironment() Account {
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
	return Account{connection, settings["AccountName"], settings["AccountKey"], settings}
}

// Endpoint is the address of one service, "Blob", "Queue" or "Table", without a slash at its end.
func (a Account) Endpoint(service string) string {
	if endpoint, found := a.settings[service+"Endpoint"]; found {
		return strings.TrimSuffix(endpoint, "/")
	}
	host := strings.Join([]string{a.Name, strings.ToLower(service), a.settings["EndpointSuffix"]}, ".")
	return a.settings["DefaultEndpointsProtocol"] + "://" + host
}

// Secondary is the endpoint of a service's read-only copy: the account's name gains a suffix, in the path or in the
// host.
func (a Account) Secondary(service string) string {
	return strings.Replace(a.Endpoint(service), a.Name, a.Name+"-secondary", 1)
}

// settleTime is how long a change of policies or properties may take to be in force. A real account needs up to
// half a minute; a server on this machine has no excuse.
func (a Account) settleTime() time.Duration {
	address, err := url.Parse(a.Endpoint("Table"))
	if err == nil && (address.Hostname() == "localhost" || net.ParseIP(address.Hostname()).IsLoopback()) {
		return 0
	}
	return 40 * time.Second
}

// Eventually repeats an attempt for as long as the service may need to apply a setting.
func (a Account) Eventually(t *T, attempt func() bool) {
	t.Helper()
	deadline := time.Now().Add(a.settleTime())
	for !attempt() {
		require.False(t, time.Now().After(deadline), "the setting did not take effect")
		time.Sleep(time.Second)
	}
}

// EventuallyWorks repeats a call that is refused until a setting is in force.
func (a Account) EventuallyWorks(t *T, call func() error) {
	t.Helper()
	deadline := time.Now().Add(a.settleTime())
	for {
		err := call()
		if err == nil {
			return
		}
		require.False(t, time.Now().After(deadline), "still refused: %v", err)
		time.Sleep(time.Second)
	}
}

// Impatient is for clients that do not retry: each case wants the first answer.
var Impatient = policy.RetryOptions{MaxRetries: -1}

// NewName is a prefix and something that no other case and no other run uses.
func NewName(t *T, prefix string) string {
	t.Helper()
	random := make([]byte, 8)
	_, err := rand.Read(random)
	require.NoError(t, err)
	return prefix + hex.EncodeToString(random)
}
