package tables

// Clients that hold a shared access signature instead of the key.

import (
	"net/url"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

// tableSAS opens the case's table with a token for it; TableName and ExpiryTime are filled in when absent.
func (c *client) tableSAS(t *T, token aztables.SASSignatureValues) *aztables.Client {
	t.Helper()
	if token.TableName == "" {
		token.TableName = c.name
	}
	if token.ExpiryTime.IsZero() && token.Identifier == "" {
		token.ExpiryTime = time.Now().UTC().Add(time.Hour)
	}
	text, err := token.Sign(c.account.credential(t))
	require.NoError(t, err)

	// The SDK signs the key range but leaves it out of the token it returns.
	query, err := url.ParseQuery(text)
	require.NoError(t, err)
	for name, value := range map[string]string{
		"spk": token.StartPartitionKey, "srk": token.StartRowKey, "epk": token.EndPartitionKey, "erk": token.EndRowKey,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return c.open(t, c.name, query)
}

// accountSAS opens the service with an account token; what is left out means the table service for an hour.
func (c *client) accountSAS(t *T, token aztables.AccountSASSignatureValues) *aztables.ServiceClient {
	t.Helper()
	if token.Services == "" {
		token.Services = "t"
	}
	if token.ExpiryTime.IsZero() {
		token.ExpiryTime = time.Now().UTC().Add(time.Hour)
	}
	parameters, err := token.Sign(c.account.credential(t))
	require.NoError(t, err)
	service, err := aztables.NewServiceClientWithNoCredential(c.account.endpoint+"/?"+parameters.Encode(), impatient())
	require.NoError(t, err)
	return service
}

// open makes a client for a table whose only credential is in the query.
func (c *client) open(t *T, table string, query url.Values) *aztables.Client {
	t.Helper()
	opened, err := aztables.NewClientWithNoCredential(c.account.endpoint+"/"+table+"?"+query.Encode(), impatient())
	require.NoError(t, err)
	return opened
}
