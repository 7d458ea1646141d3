package tables

import (
	"sort"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

// The people that the filters below choose from; the RowKey names the answer.
func addPeople(t *T, c *client) {
	t.Helper()
	people := map[string]properties{
		"ada": {
			"Name": "Ada", "Age": int32(36), "Steps": aztables.EDMInt64(5000000000), "Height": 1.65, "Active": true,
			"Born": moment("1815-12-10T00:00:00Z"), "Id": aztables.EDMGUID("11111111-1111-1111-1111-111111111111"),
			"Key": aztables.EDMBinary{0x00, 0xff}, "Nick": "o'b + ♥",
		},
		"bob": {
			"Name": "Bob", "Age": int32(-5), "Steps": aztables.EDMInt64(7), "Height": 2.5, "Active": false,
			"Born": moment("2020-01-02T03:04:05.1234567Z"), "Id": aztables.EDMGUID("22222222-2222-2222-2222-222222222222"),
			"Key": aztables.EDMBinary{0x01}, "Nick": "",
		},
		"cyd": {"Name": "ada"},
	}
	for key, values := range people {
		c.add(t, row(t, "people", key, values))
	}
}

func TestFilterBy(t *testing.T) {
	cases := []struct {
		name, filter string
		expected     []string
	}{
		{"string equality", "Name eq 'Ada'", []string{"ada"}},
		{"string order that is ordinal", "Name lt 'a'", []string{"ada", "bob"}},
		{"string with apostrophe plus and symbol", "Nick eq 'o''b + ♥'", []string{"ada"}},
		{"empty string", "Nick eq ''", []string{"bob"}},
		{"int32 equality", "Age eq 36", []string{"ada"}},
		{"negative int32", "Age eq -5", []string{"bob"}},
		{"int32 range", "Age gt -5 and Age le 36", []string{"ada"}},
		{"int64 equality", "Steps eq 5000000000L", []string{"ada"}},
		{"int64 order", "Steps ge 7L", []string{"ada", "bob"}},
		{"int64 against an int32 literal", "Steps lt 8", []string{"bob"}},
		{"double equality", "Height eq 2.5", []string{"bob"}},
		{"double with exponent", "Height lt 0.2e1", []string{"ada"}},
		{"double against an int32 literal", "Height gt 2", []string{"bob"}},
		{"true", "Active eq true", []string{"ada"}},
		{"false", "Active eq false", []string{"bob"}},
		{"not true", "Active ne true", []string{"bob"}},
		{"datetime equality to 100 ns", "Born eq datetime'2020-01-02T03:04:05.1234567Z'", []string{"bob"}},
		{"datetime order", "Born lt datetime'1900-01-01T00:00:00Z'", []string{"ada"}},
		{"guid equality", "Id eq guid'22222222-2222-2222-2222-222222222222'", []string{"bob"}},
		{"guid inequality", "Id ne guid'22222222-2222-2222-2222-222222222222'", []string{"ada"}},
		{"binary with X prefix", "Key eq X'00ff'", []string{"ada"}},
		{"binary with its name", "Key eq binary'01'", []string{"bob"}},
		{"binary order", "Key gt X'00ff'", []string{"bob"}},
		{"partition key", "PartitionKey eq 'people'", []string{"ada", "bob", "cyd"}},
		{"another partition key", "PartitionKey eq 'others'", []string{}},
		{"row key range", "RowKey ge 'b' and RowKey lt 'c'", []string{"bob"}},
		{"both keys", "PartitionKey eq 'people' and RowKey eq 'cyd'", []string{"cyd"}},
		{"timestamp", "Timestamp gt datetime'2015-01-01T00:00:00Z'", []string{"ada", "bob", "cyd"}},
		{"or", "Name eq 'Ada' or Name eq 'Bob'", []string{"ada", "bob"}},
		{"and before or", "Name eq 'ada' or Age eq 36 and Active eq false", []string{"cyd"}},
		{"parentheses", "(Name eq 'ada' or Age eq 36) and Active eq true", []string{"ada"}},
		{"not", "not (Name eq 'Ada')", []string{"bob", "cyd"}},
		{"not of and", "not (Age gt 0 and Active eq true)", []string{"bob", "cyd"}},
		{"literal on the left", "36 eq Age", []string{"ada"}},
		{"literal on the left in order", "0 gt Age", []string{"bob"}},
		{"property that some lack", "Age ne 1", []string{"ada", "bob"}},
		{"negated property that some lack", "not (Age eq 36)", []string{"bob", "cyd"}},
		{"property in the wrong case", "name eq 'Ada'", []string{}},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "QueryEntities", func(t *T, c *client) {
				addPeople(t, c)
				found := rowKeys(c.list(t, &aztables.ListEntitiesOptions{Filter: &each.filter}))
				require.Equal(t, each.expected, found)
			})
		})
	}
}

// Many comparisons are more than the documentation promises and less than the service takes.
func TestFilterTakesThirtyComparisons(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		addPeople(t, c)
		filter := "RowKey eq 'ada'"
		for range 29 {
			filter += " or RowKey eq 'cyd'"
		}
		found := rowKeys(c.list(t, &aztables.ListEntitiesOptions{Filter: &filter}))
		sort.Strings(found)
		require.Equal(t, []string{"ada", "cyd"}, found)
	})
}

func TestFilterIsRefusedFor(t *testing.T) {
	cases := []struct {
		name, filter string
		status       int
		code         aztables.TableErrorCode
	}{
		{"a syntax error", "Name eq 'a'b'", 400, aztables.InvalidInput},
		{"an unterminated string", "Name eq 'a", 400, aztables.InvalidInput},
		{"a missing operand", "Name eq", 400, aztables.InvalidInput},
		{"a bad datetime", "Born eq datetime'yesterday'", 400, aztables.InvalidInput},
		{"a bad guid", "Id eq guid'1'", 400, aztables.InvalidInput},
		{"an integer beyond int32", "Steps eq 5000000000", 400, aztables.InvalidInput},
		{"operators in upper case", "Name EQ 'Ada'", 400, aztables.InvalidInput},
		{"a function", "startswith(Name,'A')", 501, aztables.NotImplemented},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "QueryEntities", func(t *T, c *client) {
				addPeople(t, c)
				_, err := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Filter: &each.filter}).NextPage(ctx)
				requireRefused(t, err, each.status, string(each.code))
			})
		})
	}
}

func TestQueryOfMissingTableIsNotFound(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		_, err := c.service.NewClient(newTableName(t)).NewListEntitiesPager(nil).NextPage(ctx)
		requireRefused(t, err, 404, string(aztables.TableNotFound))
	})
}

func TestSelectReturnsOnlyWhatIsNamed(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", properties{"Kept": aztables.EDMInt64(7), "Left": "x"}))
		page, err := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Select: to.Ptr("RowKey,Kept")}).NextPage(ctx)
		require.NoError(t, err)
		require.Len(t, page.Entities, 1)
		raw := decodeRaw(t, page.Entities[0])
		require.NotEmpty(t, raw["odata.etag"])
		delete(raw, "odata.etag")
		require.Equal(t, properties{"RowKey": "r", "Kept": "7", "Kept@odata.type": "Edm.Int64"}, raw)
	})
}

func TestSelectOfMissingPropertyIsNull(t *testing.T) {
	conform(t, "QueryEntities", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", nil))
		page, err := c.table.NewListEntitiesPager(&aztables.ListEntitiesOptions{Select: to.Ptr("RowKey, Missing")}).NextPage(ctx)
		require.NoError(t, err)
		require.Len(t, page.Entities, 1)
		raw := decodeRaw(t, page.Entities[0])
		require.Contains(t, raw, "Missing")
		require.Nil(t, raw["Missing"])
	})
}
