package queues

// Service properties, CORS and statistics. Properties belong to the account, so each case puts back what it found.

import (
	"context"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/stretchr/testify/require"
)

func (c *client) getProperties(t *T) azqueue.StorageServiceProperties {
	t.Helper()
	response, err := c.service.GetServiceProperties(ctx, nil)
	require.NoError(t, err)
	return response.StorageServiceProperties
}

// setProperties applies properties for the length of the case and waits until the service shows them.
func (c *client) setProperties(
	t *T, properties azqueue.SetPropertiesOptions, inForce func(azqueue.StorageServiceProperties) bool,
) {
	t.Helper()
	c.restoreAfterwards(t)
	require.Equal(t, 202, status(t, func(ctx context.Context) error {
		_, err := c.service.SetProperties(ctx, &properties)
		return err
	}))
	c.account.Eventually(t, func() bool { return inForce(c.getProperties(t)) })
}

func (c *client) restoreAfterwards(t *T) {
	t.Helper()
	before := c.getProperties(t)
	t.Cleanup(func() {
		_, _ = c.service.SetProperties(ctx, &azqueue.SetPropertiesOptions{
			CORS: before.CORS, HourMetrics: before.HourMetrics, MinuteMetrics: before.MinuteMetrics, Logging: before.Logging,
		})
	})
}

func corsRule(origin string) *azqueue.CORSRule {
	return &azqueue.CORSRule{
		AllowedOrigins: to.Ptr(origin), AllowedMethods: to.Ptr("GET,PUT"), AllowedHeaders: to.Ptr("x-ms-*,content-type"),
		ExposedHeaders: to.Ptr("x-ms-request-id"), MaxAgeInSeconds: to.Ptr(int32(60)),
	}
}

func retention(days int32) *azqueue.RetentionPolicy {
	return &azqueue.RetentionPolicy{Enabled: to.Ptr(true), Days: to.Ptr(days)}
}

func metrics(days int32) *azqueue.Metrics {
	return &azqueue.Metrics{
		Version: to.Ptr("1.0"), Enabled: to.Ptr(true), IncludeAPIs: to.Ptr(true), RetentionPolicy: retention(days),
	}
}

func logging(days int32) *azqueue.Logging {
	return &azqueue.Logging{
		Version: to.Ptr("1.0"), Read: to.Ptr(true), Write: to.Ptr(true), Delete: to.Ptr(false),
		RetentionPolicy: retention(days),
	}
}

func TestQueueServicePropertiesHaveEverySection(t *testing.T) {
	conform(t, "GetQueueServiceProperties", func(t *T, c *client) {
		found := c.getProperties(t)
		require.Equal(t, "1.0", *found.Logging.Version)
		require.NotNil(t, found.Logging.RetentionPolicy.Enabled)
		require.NotNil(t, found.HourMetrics.Enabled)
		require.NotNil(t, found.MinuteMetrics.Enabled)
	})
}

func TestQueueServicePropertiesComeBackAsSet(t *testing.T) {
	conform(t, "SetQueueServiceProperties", func(t *T, c *client) {
		set := azqueue.SetPropertiesOptions{
			Logging: logging(5), HourMetrics: metrics(6), MinuteMetrics: metrics(7),
			CORS: []*azqueue.CORSRule{corsRule("http://one.example"), corsRule("*")},
		}
		c.setProperties(t, set, func(found azqueue.StorageServiceProperties) bool { return len(found.CORS) == 2 })
		found := c.getProperties(t)
		require.Equal(t, set.Logging, found.Logging)
		require.Equal(t, set.HourMetrics, found.HourMetrics)
		require.Equal(t, set.MinuteMetrics, found.MinuteMetrics)
		require.Equal(t, set.CORS, found.CORS)
	})
}

func TestQueueServicePropertiesLeftOutKeepTheirValue(t *testing.T) {
	conform(t, "SetQueueServiceProperties", func(t *T, c *client) {
		first := azqueue.SetPropertiesOptions{Logging: logging(11)}
		c.setProperties(t, first, func(found azqueue.StorageServiceProperties) bool {
			return *found.Logging.RetentionPolicy.Enabled && *found.Logging.RetentionPolicy.Days == 11
		})
		second := azqueue.SetPropertiesOptions{HourMetrics: metrics(12)}
		c.setProperties(t, second, func(found azqueue.StorageServiceProperties) bool {
			return *found.HourMetrics.RetentionPolicy.Enabled && *found.HourMetrics.RetentionPolicy.Days == 12
		})
		require.Equal(t, logging(11), c.getProperties(t).Logging)
	})
}

func TestQueueServiceRefusesRetentionOf366Days(t *testing.T) {
	conform(t, "SetQueueServiceProperties", func(t *T, c *client) {
		c.restoreAfterwards(t)
		_, err := c.service.SetProperties(ctx, &azqueue.SetPropertiesOptions{HourMetrics: metrics(366)})
		requireRefused(t, err, 400, "InvalidXmlDocument")
	})
}

func (c *client) allowOrigin(t *T, origin string) {
	t.Helper()
	rules := azqueue.SetPropertiesOptions{CORS: []*azqueue.CORSRule{corsRule(origin)}}
	c.setProperties(t, rules, func(found azqueue.StorageServiceProperties) bool {
		return len(found.CORS) == 1 && *found.CORS[0].AllowedOrigins == origin
	})
}

func TestQueueServiceAnswersAnAllowedOrigin(t *testing.T) {
	conform(t, "SetQueueServiceProperties", func(t *T, c *client) {
		c.allowOrigin(t, "http://allowed.example")
		for origin, allowed := range map[string]string{
			"http://allowed.example": "http://allowed.example", "http://other.example": "",
		} {
			response, _, err := exchange(t, http.Header{"Origin": {origin}}, func(ctx context.Context) error {
				_, err := c.queue.PeekMessage(ctx, nil)
				return err
			})
			require.NoError(t, err, "CORS never refuses the request itself")
			require.Equal(t, allowed, response.Header.Get("Access-Control-Allow-Origin"))
		}
	})
}

// The SDK has no preflight; a browser sends it, so this does too.
func (c *client) preflight(t *T, origin, method string) *http.Response {
	t.Helper()
	request, err := http.NewRequest(http.MethodOptions, c.account.Endpoint("Queue")+"/"+c.name, nil)
	require.NoError(t, err)
	request.Header.Set("Origin", origin)
	request.Header.Set("Access-Control-Request-Method", method)
	request.Header.Set("Access-Control-Request-Headers", "x-ms-version,Content-Type")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response
}

func TestQueuePreflightOfAnAllowedRequest(t *testing.T) {
	conform(t, "QueuePreflightRequest", func(t *T, c *client) {
		c.allowOrigin(t, "http://allowed.example")
		response := c.preflight(t, "http://allowed.example", "PUT")
		require.Equal(t, 200, response.StatusCode)
		require.Equal(t, "http://allowed.example", response.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, response.Header.Get("Access-Control-Allow-Methods"), "PUT")
		require.Equal(t, "60", response.Header.Get("Access-Control-Max-Age"))
	})
}

func TestQueuePreflightIsRefused(t *testing.T) {
	for name, request := range map[string][2]string{
		"for another origin": {"http://other.example", "GET"},
		"for another method": {"http://allowed.example", "DELETE"},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "QueuePreflightRequest", func(t *T, c *client) {
				c.allowOrigin(t, "http://allowed.example")
				require.Equal(t, 403, c.preflight(t, request[0], request[1]).StatusCode)
			})
		})
	}
}

func TestQueueSecondaryTellsItsReplicationState(t *testing.T) {
	conform(t, "GetQueueServiceStats", func(t *T, c *client) {
		secondary, err := azqueue.NewServiceClientWithSharedKeyCredential(
			c.account.Secondary("Queue")+"/", credential(t, c.account), impatient())
		require.NoError(t, err)
		statistics, err := secondary.GetStatistics(ctx, nil)
		require.NoError(t, err)
		require.Contains(t, []azqueue.GeoReplicationStatus{"live", "bootstrap", "unavailable"}, *statistics.GeoReplication.Status)
	})
}

func TestQueuePrimaryHasNoStatistics(t *testing.T) {
	conform(t, "GetQueueServiceStats", func(t *T, c *client) {
		_, err := c.service.GetStatistics(ctx, nil)
		requireRefused(t, err, 400, "InvalidQueryParameterValue")
	})
}
