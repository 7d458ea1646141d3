package tables

// Service properties, CORS and statistics. Properties belong to the account, so each case puts back what it found;
// the SDK cannot clear CORS rules, so those of the last case stay.

import (
	"context"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"github.com/stretchr/testify/require"
)

func (c *client) getProperties(t *T) aztables.ServiceProperties {
	t.Helper()
	response, err := c.service.GetProperties(ctx, nil)
	require.NoError(t, err)
	return response.ServiceProperties
}

// restoreAfterwards puts back the properties of this moment when the case ends.
func (c *client) restoreAfterwards(t *T) {
	t.Helper()
	before := c.getProperties(t)
	t.Cleanup(func() { _, _ = c.service.SetProperties(ctx, before, nil) })
}

// setProperties applies properties for the length of the case and waits until the service shows them.
func (c *client) setProperties(t *T, properties aztables.ServiceProperties, inForce func(aztables.ServiceProperties) bool) {
	t.Helper()
	c.restoreAfterwards(t)
	_, err := c.service.SetProperties(ctx, properties, nil)
	require.NoError(t, err)
	c.eventually(t, func() bool { return inForce(c.getProperties(t)) })
}

func corsRule(origin string) *aztables.CorsRule {
	return &aztables.CorsRule{
		AllowedOrigins: to.Ptr(origin), AllowedMethods: to.Ptr("GET,PUT"), AllowedHeaders: to.Ptr("x-ms-*,content-type"),
		ExposedHeaders: to.Ptr("x-ms-request-id"), MaxAgeInSeconds: to.Ptr(int32(60)),
	}
}

func metrics(days int32) *aztables.Metrics {
	return &aztables.Metrics{
		Version: to.Ptr("1.0"), Enabled: to.Ptr(true), IncludeAPIs: to.Ptr(true),
		RetentionPolicy: &aztables.RetentionPolicy{Enabled: to.Ptr(true), Days: to.Ptr(days)},
	}
}

func logging(days int32) *aztables.Logging {
	return &aztables.Logging{
		Version: to.Ptr("1.0"), Read: to.Ptr(true), Write: to.Ptr(true), Delete: to.Ptr(false),
		RetentionPolicy: &aztables.RetentionPolicy{Enabled: to.Ptr(true), Days: to.Ptr(days)},
	}
}

func TestServicePropertiesHaveEverySection(t *testing.T) {
	conform(t, "GetTableServiceProperties", func(t *T, c *client) {
		found := c.getProperties(t)
		require.Equal(t, "1.0", *found.Logging.Version)
		require.NotNil(t, found.Logging.RetentionPolicy.Enabled)
		require.NotNil(t, found.HourMetrics.Enabled)
		require.NotNil(t, found.MinuteMetrics.Enabled)
	})
}

func TestServicePropertiesComeBackAsSet(t *testing.T) {
	conform(t, "SetTableServiceProperties", func(t *T, c *client) {
		set := aztables.ServiceProperties{
			Logging: logging(5), HourMetrics: metrics(6), MinuteMetrics: metrics(7),
			Cors: []*aztables.CorsRule{corsRule("http://one.example"), corsRule("*")},
		}
		c.setProperties(t, set, func(found aztables.ServiceProperties) bool { return len(found.Cors) == 2 })
		require.Equal(t, set, c.getProperties(t))
	})
}

func TestSectionsLeftOutKeepTheirValue(t *testing.T) {
	conform(t, "SetTableServiceProperties", func(t *T, c *client) {
		rules := []*aztables.CorsRule{corsRule("http://kept.example")}
		first := aztables.ServiceProperties{Logging: logging(11), Cors: rules}
		c.setProperties(t, first, func(found aztables.ServiceProperties) bool {
			return *found.Logging.RetentionPolicy.Enabled && *found.Logging.RetentionPolicy.Days == 11
		})
		c.setProperties(t, aztables.ServiceProperties{HourMetrics: metrics(12)}, func(found aztables.ServiceProperties) bool {
			return *found.HourMetrics.RetentionPolicy.Enabled && *found.HourMetrics.RetentionPolicy.Days == 12
		})
		found := c.getProperties(t)
		require.Equal(t, logging(11), found.Logging)
		require.Equal(t, rules, found.Cors)
	})
}

func TestRetentionOf366DaysIsRefused(t *testing.T) {
	conform(t, "SetTableServiceProperties", func(t *T, c *client) {
		c.restoreAfterwards(t)
		_, err := c.service.SetProperties(ctx, aztables.ServiceProperties{HourMetrics: metrics(366)}, nil)
		requireRefused(t, err, 400, string(aztables.InvalidXmlDocument))
	})
}

func TestSixCorsRulesAreRefused(t *testing.T) {
	conform(t, "SetTableServiceProperties", func(t *T, c *client) {
		c.restoreAfterwards(t)
		var rules []*aztables.CorsRule
		for range 6 {
			rules = append(rules, corsRule("http://many.example"))
		}
		_, err := c.service.SetProperties(ctx, aztables.ServiceProperties{Cors: rules}, nil)
		requireRefusedWith(t, err, 400)
	})
}

func (c *client) allowOrigin(t *T, origin string) {
	t.Helper()
	rules := aztables.ServiceProperties{Cors: []*aztables.CorsRule{corsRule(origin)}}
	c.setProperties(t, rules, func(found aztables.ServiceProperties) bool {
		return len(found.Cors) == 1 && *found.Cors[0].AllowedOrigins == origin
	})
}

func TestCorsHeadersOnAnAllowedRequest(t *testing.T) {
	conform(t, "SetTableServiceProperties", func(t *T, c *client) {
		c.allowOrigin(t, "http://allowed.example")
		response, _, err := exchange(t, http.Header{"Origin": {"http://allowed.example"}}, func(ctx context.Context) error {
			_, err := c.table.NewListEntitiesPager(nil).NextPage(ctx)
			return err
		})
		require.NoError(t, err)
		require.Equal(t, "http://allowed.example", response.Header.Get("Access-Control-Allow-Origin"))
		require.Equal(t, "x-ms-request-id", response.Header.Get("Access-Control-Expose-Headers"))
	})
}

func TestNoCorsHeadersForAnotherOrigin(t *testing.T) {
	conform(t, "SetTableServiceProperties", func(t *T, c *client) {
		c.allowOrigin(t, "http://allowed.example")
		response, _, err := exchange(t, http.Header{"Origin": {"http://other.example"}}, func(ctx context.Context) error {
			_, err := c.table.NewListEntitiesPager(nil).NextPage(ctx)
			return err
		})
		require.NoError(t, err, "CORS never refuses the request itself")
		require.Empty(t, response.Header.Get("Access-Control-Allow-Origin"))
	})
}

// The SDK has no preflight; a browser sends it, so this does too.
func (c *client) preflight(t *T, origin, method string) *http.Response {
	t.Helper()
	request, err := http.NewRequest(http.MethodOptions, c.account.endpoint+"/"+c.name, nil)
	require.NoError(t, err)
	request.Header.Set("Origin", origin)
	request.Header.Set("Access-Control-Request-Method", method)
	request.Header.Set("Access-Control-Request-Headers", "x-ms-version,Content-Type")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response
}

func TestPreflightOfAnAllowedRequest(t *testing.T) {
	conform(t, "TablePreflightRequest", func(t *T, c *client) {
		c.allowOrigin(t, "http://allowed.example")
		response := c.preflight(t, "http://allowed.example", "PUT")
		require.Equal(t, 200, response.StatusCode)
		require.Equal(t, "http://allowed.example", response.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, response.Header.Get("Access-Control-Allow-Methods"), "PUT")
		require.Equal(t, "60", response.Header.Get("Access-Control-Max-Age"))
	})
}

func TestPreflightIsRefused(t *testing.T) {
	for name, request := range map[string][2]string{
		"for another origin": {"http://other.example", "GET"},
		"for another method": {"http://allowed.example", "DELETE"},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "TablePreflightRequest", func(t *T, c *client) {
				c.allowOrigin(t, "http://allowed.example")
				require.Equal(t, 403, c.preflight(t, request[0], request[1]).StatusCode)
			})
		})
	}
}

func TestSecondaryTellsItsReplicationState(t *testing.T) {
	conform(t, "GetTableServiceStats", func(t *T, c *client) {
		secondary, err := aztables.NewServiceClientWithSharedKey(c.account.secondary(), c.account.credential(t), impatient())
		require.NoError(t, err)
		statistics, err := secondary.GetStatistics(ctx, nil)
		require.NoError(t, err)
		require.Contains(t, aztables.PossibleGeoReplicationStatusValues(), *statistics.GeoReplication.Status)
		if *statistics.GeoReplication.Status == aztables.GeoReplicationStatusLive {
			require.NotNil(t, statistics.GeoReplication.LastSyncTime)
		}
	})
}

func TestPrimaryHasNoStatistics(t *testing.T) {
	conform(t, "GetTableServiceStats", func(t *T, c *client) {
		_, err := c.service.GetStatistics(ctx, nil)
		requireRefused(t, err, 400, "InvalidQueryParameterValue")
	})
}
