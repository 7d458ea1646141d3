package tables

// Every EDM type, written and read back.

import (
	"bytes"
	"context"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func moment(text string) aztables.EDMDateTime {
	parsed, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return aztables.EDMDateTime(parsed)
}

func allBytes() aztables.EDMBinary {
	value := make(aztables.EDMBinary, 256)
	for i := range value {
		value[i] = byte(i)
	}
	return value
}

var values = []struct {
	name  string
	value any
}{
	{"string", "Ada"},
	{"empty string", ""},
	{"string with quotes and escapes", "o'b \"x\" \\ / \b\f\n\r\t <&> %41 +"},
	{"string beyond ascii", "žluťoučký 漢字 \u2028 \U0001F600"},
	{"string with outer spaces", "  x  "},
	{"string that looks like a date", "2020-01-01T00:00:00Z"},
	{"int32 zero", int32(0)},
	{"int32 maximum", int32(math.MaxInt32)},
	{"int32 minimum", int32(math.MinInt32)},
	{"int64 small", aztables.EDMInt64(7)},
	{"int64 maximum", aztables.EDMInt64(math.MaxInt64)},
	{"int64 minimum", aztables.EDMInt64(math.MinInt64)},
	{"double", 0.1},
	{"double negative", -1234.5678},
	{"double maximum", math.MaxFloat64},
	{"double smallest", math.SmallestNonzeroFloat64},
	{"true", true},
	{"false", false},
	{"datetime of a whole second", moment("2020-02-29T23:59:59Z")},
	{"datetime with seven digits", moment("2020-01-02T03:04:05.1234567Z")},
	{"datetime first", moment("1601-01-01T00:00:00Z")},
	{"datetime last", moment("9999-12-31T23:59:59.9999999Z")},
	{"guid", aztables.EDMGUID("c9da6455-213d-42c9-9a79-3e9149a57833")},
	{"binary", allBytes()},
	{"empty binary", aztables.EDMBinary{}},
}

func TestInsertKeeps(t *testing.T) {
	for _, each := range values {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "InsertEntity", func(t *T, c *client) {
				c.add(t, row(t, "p", "r", properties{"Value": each.value}))
				require.Equal(t, each.value, c.get(t, "p", "r").Properties["Value"])
			})
		})
	}
}

func TestMergeKeepsEveryType(t *testing.T) {
	conform(t, "InsertOrMergeEntity", func(t *T, c *client) {
		expected := properties{}
		for _, each := range values {
			name := strings.ReplaceAll(each.name, " ", "_")
			expected[name] = each.value
			_, err := c.table.UpsertEntity(ctx, row(t, "p", "r", properties{name: each.value}), upsertMerging)
			require.NoError(t, err)
		}
		require.Equal(t, expected, c.get(t, "p", "r").Properties)
	})
}

func TestQueryReturnsEveryTypeInEveryFormat(t *testing.T) {
	formats := map[string]aztables.MetadataFormat{"minimal": aztables.MetadataFormatMinimal, "full": aztables.MetadataFormatFull}
	for name, format := range formats {
		t.Run(name, func(t *testing.T) {
			conform(t, "QueryEntities", func(t *T, c *client) {
				expected := properties{}
				for _, each := range values {
					expected[strings.ReplaceAll(each.name, " ", "_")] = each.value
				}
				c.add(t, row(t, "p", "r", expected))
				entities := c.list(t, &aztables.ListEntitiesOptions{Format: to.Ptr(format)})
				require.Len(t, entities, 1)
				require.Equal(t, expected, entities[0].Properties)
			})
		})
	}
}

// The SDK's entity type can neither send nor read these: it drops the Double annotation.
func TestInsertKeepsSpecialDouble(t *testing.T) {
	for _, value := range []string{"NaN", "Infinity", "-Infinity"} {
		t.Run(strings.ReplaceAll(strings.ToLower(value), "-", "minus "), func(t *testing.T) {
			conform(t, "InsertEntity", func(t *T, c *client) {
				c.add(t, rawRow(t, "p", "r", properties{"Value": value, "Value@odata.type": "Edm.Double"}))
				response, err := c.table.GetEntity(ctx, "p", "r", nil)
				require.NoError(t, err)
				raw := decodeRaw(t, response.Value)
				require.Equal(t, []any{value, "Edm.Double"}, []any{raw["Value"], raw["Value@odata.type"]})
			})
		})
	}
}

func TestWholeDoubleKeepsItsPoint(t *testing.T) {
	conform(t, "QueryEntity", func(t *T, c *client) {
		c.add(t, rawRow(t, "p", "r", properties{"Value": 3, "Value@odata.type": "Edm.Double"}))
		_, body, err := exchange(t, nil, func(ctx context.Context) error {
			_, err := c.table.GetEntity(ctx, "p", "r", nil)
			return err
		})
		require.NoError(t, err)
		number := regexp.MustCompile(`"Value":\s*([^,}\s]+)`).FindSubmatch(body)
		require.NotNil(t, number, "no value in %s", body)
		require.True(t, bytes.ContainsAny(number[1], ".eE"), "a Double has to look like one: %s", body)
	})
}

func TestGuidComesBackInLowerCase(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		c.add(t, row(t, "p", "r", properties{"Value": aztables.EDMGUID("C9DA6455-213D-42C9-9A79-3E9149A57833")}))
		require.Equal(t, aztables.EDMGUID("c9da6455-213d-42c9-9a79-3e9149a57833"), c.get(t, "p", "r").Properties["Value"])
	})
}

func TestIntegerBeyondInt32WithoutTypeBecomesDouble(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		c.add(t, rawRow(t, "p", "r", properties{"Value": int64(5454161346626)}))
		_, body, err := exchange(t, nil, func(ctx context.Context) error {
			_, err := c.table.GetEntity(ctx, "p", "r", nil)
			return err
		})
		require.NoError(t, err)
		require.Regexp(t, `"Value":\s*[-0-9]*[.eE]`, string(body))
		require.Equal(t, float64(5454161346626), c.get(t, "p", "r").Properties["Value"])
	})
}

func TestNullIsNotStored(t *testing.T) {
	conform(t, "InsertEntity", func(t *T, c *client) {
		c.add(t, rawRow(t, "p", "r", properties{"Value": nil, "Kept": "x"}))
		require.Equal(t, properties{"Kept": "x"}, c.get(t, "p", "r").Properties)
	})
}

func TestInsertRefusesValue(t *testing.T) {
	cases := []struct {
		name, kind string
		value      any
		code       aztables.TableErrorCode
	}{
		{"that is no int64", "Edm.Int64", "seven", aztables.InvalidInput},
		{"that is no guid", "Edm.Guid", "not-a-guid", aztables.InvalidInput},
		{"that is no datetime", "Edm.DateTime", "yesterday", aztables.InvalidInput},
		{"that is no base64", "Edm.Binary", "***", aztables.InvalidInput},
		{"of an unknown type", "Edm.Decimal", "1.5", aztables.InvalidInput},
		{"that is an object", "", properties{"a": 1}, aztables.InvalidInput},
		{"that is an array", "", []int{1}, aztables.InvalidInput},
		{"before the year 1601", "Edm.DateTime", "1600-12-31T23:59:59Z", aztables.OutOfRangeInput},
	}
	for _, each := range cases {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "InsertEntity", func(t *T, c *client) {
				values := properties{"Value": each.value}
				if each.kind != "" {
					values["Value@odata.type"] = each.kind
				}
				_, err := c.table.AddEntity(ctx, rawRow(t, "p", "r", values), nil)
				requireRefused(t, err, 400, string(each.code))
			})
		})
	}
}
