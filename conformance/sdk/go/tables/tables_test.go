package tables

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func TestCreateTableAnswersWithItsName(t *testing.T) {
	conform(t, "CreateTable", func(t *T, c *client) {
		name := newTableName(t)
		c.deleteAfterwards(t, name)
		response, err := c.service.CreateTable(ctx, name, nil)
		require.NoError(t, err)
		require.Equal(t, name, *response.TableName)
	})
}

func TestCreateTableThroughTheTableClient(t *testing.T) {
	conform(t, "CreateTable", func(t *T, c *client) {
		name := newTableName(t)
		c.deleteAfterwards(t, name)
		_, err := c.service.NewClient(name).CreateTable(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, []string{name}, c.tables(t, "TableName eq '"+name+"'"))
	})
}

func TestCreateTableTwiceIsRefused(t *testing.T) {
	conform(t, "CreateTable", func(t *T, c *client) {
		_, err := c.service.CreateTable(ctx, c.name, nil)
		requireRefused(t, err, 409, string(aztables.TableAlreadyExists))
	})
}

func TestCreateTableInOtherCaseIsRefused(t *testing.T) {
	conform(t, "CreateTable", func(t *T, c *client) {
		_, err := c.service.CreateTable(ctx, strings.ToUpper(c.name), nil)
		requireRefused(t, err, 409, string(aztables.TableAlreadyExists))
	})
}

func TestCreateTableRefusesName(t *testing.T) {
	cases := []struct{ name, table, code string }{
		{"with a dash", "has-dash", "InvalidResourceName"},
		{"with an underscore", "has_underscore", "InvalidResourceName"},
		{"with a leading digit", "1table", "InvalidResourceName"},
		{"beyond ascii", "tåble", "InvalidResourceName"},
		{"of two characters", "ab", "OutOfRangeInput"},
		{"of 64 characters", strings.Repeat("a", 64), "OutOfRangeInput"},
		{"that is reserved", "tables", "InvalidInput"},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "CreateTable", func(t *T, c *client) {
				_, err := c.service.CreateTable(ctx, each.table, nil)
				requireRefused(t, err, 400, each.code)
			})
		})
	}
}

func TestCreateTableAcceptsNameOf63Characters(t *testing.T) {
	conform(t, "CreateTable", func(t *T, c *client) {
		name := newTableName(t)
		name += strings.Repeat("x", 63-len(name))
		c.deleteAfterwards(t, name)
		_, err := c.service.CreateTable(ctx, name, nil)
		require.NoError(t, err)
	})
}

func TestDeleteTableRemovesIt(t *testing.T) {
	conform(t, "DeleteTable", func(t *T, c *client) {
		_, err := c.table.Delete(ctx, nil)
		require.NoError(t, err)
		_, err = c.table.GetEntity(ctx, "p", "r", nil)
		requireRefused(t, err, 404, string(aztables.TableNotFound))
		require.Empty(t, c.tables(t, "TableName eq '"+c.name+"'"))
	})
}

func TestDeleteTableIgnoresCase(t *testing.T) {
	conform(t, "DeleteTable", func(t *T, c *client) {
		_, err := c.service.DeleteTable(ctx, strings.ToLower(c.name), nil)
		require.NoError(t, err)
		require.Empty(t, c.tables(t, "TableName eq '"+c.name+"'"))
	})
}

func TestDeleteMissingTableIsNotFound(t *testing.T) {
	conform(t, "DeleteTable", func(t *T, c *client) {
		_, err := c.service.DeleteTable(ctx, newTableName(t), nil)
		requireRefused(t, err, 404, string(aztables.ResourceNotFound))
	})
}

func TestListTablesKeepsTheSpellingOfCreation(t *testing.T) {
	conform(t, "QueryTables", func(t *T, c *client) {
		require.Contains(t, c.tables(t, ""), c.name)
	})
}

func TestListTablesByPrefix(t *testing.T) {
	conform(t, "QueryTables", func(t *T, c *client) {
		names := c.family(t, 3)
		prefix := strings.TrimSuffix(names[0], "0")
		require.Equal(t, names, c.tables(t, fmt.Sprintf("TableName ge '%s' and TableName lt '%s{'", prefix, prefix)))
	})
}

func TestListTablesByComparison(t *testing.T) {
	conform(t, "QueryTables", func(t *T, c *client) {
		names := c.family(t, 3)
		within := fmt.Sprintf("TableName gt '%s' and TableName le '%s' and TableName ne '%s'", names[0], names[2], names[1])
		require.Equal(t, names[2:], c.tables(t, within))
		require.Equal(t, names[1:2], c.tables(t, fmt.Sprintf("not (TableName ne '%s')", names[1])))
	})
}

func TestListTablesInPagesAndResumes(t *testing.T) {
	conform(t, "QueryTables", func(t *T, c *client) {
		names := c.family(t, 3)
		options := &aztables.ListTablesOptions{
			Top:    to.Ptr(int32(2)),
			Filter: to.Ptr(fmt.Sprintf("TableName ge '%s' and TableName le '%s'", names[0], names[2])),
		}
		page, err := c.service.NewListTablesPager(options).NextPage(ctx)
		require.NoError(t, err)
		require.Len(t, page.Tables, 2)
		require.NotNil(t, page.NextTableName)

		options.NextTableName = page.NextTableName
		rest, err := c.service.NewListTablesPager(options).NextPage(ctx)
		require.NoError(t, err)
		require.Len(t, rest.Tables, 1)
		require.Equal(t, names[2], *rest.Tables[0].Name)
		require.Nil(t, rest.NextTableName)
	})
}

func TestListTablesWithFullMetadata(t *testing.T) {
	conform(t, "QueryTables", func(t *T, c *client) {
		page, err := c.service.NewListTablesPager(&aztables.ListTablesOptions{
			Filter: to.Ptr("TableName eq '" + c.name + "'"),
			Format: to.Ptr(aztables.MetadataFormatFull),
		}).NextPage(ctx)
		require.NoError(t, err)
		require.Len(t, page.Tables, 1)
		metadata := decodeRaw(t, page.Tables[0].Value)
		require.Equal(t, c.account.Name+".Tables", metadata["odata.type"])
		require.Equal(t, c.account.endpoint+"/Tables('"+c.name+"')", metadata["odata.id"])
		require.Equal(t, "Tables('"+c.name+"')", metadata["odata.editLink"])
	})
}

func TestListTablesRefusesMoreThanAThousandPerPage(t *testing.T) {
	conform(t, "QueryTables", func(t *T, c *client) {
		_, err := c.service.NewListTablesPager(&aztables.ListTablesOptions{Top: to.Ptr(int32(1001))}).NextPage(ctx)
		requireRefused(t, err, 400, string(aztables.InvalidInput))
	})
}

// tables lists the names that a filter lets through, all pages of them.
func (c *client) tables(t *T, filter string) []string {
	t.Helper()
	options := &aztables.ListTablesOptions{}
	if filter != "" {
		options.Filter = &filter
	}
	var names []string
	for pager := c.service.NewListTablesPager(options); pager.More(); {
		page, err := pager.NextPage(ctx)
		require.NoError(t, err)
		for _, table := range page.Tables {
			names = append(names, *table.Name)
		}
	}
	return names
}

// family creates tables that share a prefix and end in a digit.
func (c *client) family(t *T, size int) []string {
	t.Helper()
	prefix := newTableName(t)
	var names []string
	for i := range size {
		name := fmt.Sprint(prefix, i)
		_, err := c.service.CreateTable(ctx, name, nil)
		require.NoError(t, err)
		c.deleteAfterwards(t, name)
		names = append(names, name)
	}
	return names
}
