// The helper as a project uses it, with Microsoft's SDK.
package tablerocktest_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"

	"example.com/project/tablerocktest"
)

func TestEachTestHasAnAccountOfItsOwn(t *testing.T) {
	server := tablerocktest.Start(t)
	for range 2 {
		account := server.Account(t)
		client, err := aztables.NewServiceClientFromConnectionString(account.ConnectionString(), nil)
		require.NoError(t, err)
		_, err = client.CreateTable(context.Background(), "People", nil)
		require.NoError(t, err)
	}
	require.Equal(t, "mine", server.AccountNamed(t, "mine").Name)
}

func TestServersRunAtTheSameTime(t *testing.T) {
	one, other := tablerocktest.Start(t), tablerocktest.Start(t)
	require.NotEqual(t, one.Table, other.Table)
	require.NotEqual(t, one.Admin, other.Admin)
}
