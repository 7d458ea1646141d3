package blobs

// Service properties, CORS and statistics. Properties belong to the account, so each case puts back what it found.

import (
	"context"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/stretchr/testify/require"
)

func (c *client) getProperties(t *T) service.StorageServiceProperties {
	t.Helper()
	response, err := c.service.GetProperties(ctx, nil)
	require.NoError(t, err)
	return response.StorageServiceProperties
}

// setProperties applies properties for the length of the case and waits until the service shows them.
func (c *client) setProperties(
	t *T, properties service.SetPropertiesOptions, inForce func(service.StorageServiceProperties) bool,
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
		_, _ = c.service.SetProperties(ctx, &service.SetPropertiesOptions{
			CORS: before.CORS, HourMetrics: before.HourMetrics, MinuteMetrics: before.MinuteMetrics, Logging: before.Logging,
			DeleteRetentionPolicy: before.DeleteRetentionPolicy, StaticWebsite: before.StaticWebsite,
			DefaultServiceVersion: before.DefaultServiceVersion,
		})
	})
}

func corsRule(origin string) *service.CORSRule {
	return &service.CORSRule{
		AllowedOrigins: to.Ptr(origin), AllowedMethods: to.Ptr("GET,PUT"), AllowedHeaders: to.Ptr("x-ms-*,content-type"),
		ExposedHeaders: to.Ptr("x-ms-request-id"), MaxAgeInSeconds: to.Ptr(int32(60)),
	}
}

func retention(days int32) *service.RetentionPolicy {
	return &service.RetentionPolicy{Enabled: to.Ptr(true), Days: to.Ptr(days)}
}

func metrics(days int32) *service.Metrics {
	return &service.Metrics{
		Version: to.Ptr("1.0"), Enabled: to.Ptr(true), IncludeAPIs: to.Ptr(true), RetentionPolicy: retention(days),
	}
}

func logging(days int32) *service.Logging {
	return &service.Logging{
		Version: to.Ptr("1.0"), Read: to.Ptr(true), Write: to.Ptr(true), Delete: to.Ptr(false),
		RetentionPolicy: retention(days),
	}
}

func TestBlobServicePropertiesHaveEverySection(t *testing.T) {
	conform(t, "GetBlobServiceProperties", func(t *T, c *client) {
		found := c.getProperties(t)
		require.Equal(t, "1.0", *found.Logging.Version)
		require.NotNil(t, found.Logging.RetentionPolicy.Enabled)
		require.NotNil(t, found.HourMetrics.Enabled)
		require.NotNil(t, found.MinuteMetrics.Enabled)
	})
}

func TestBlobServicePropertiesComeBackAsSet(t *testing.T) {
	conform(t, "SetBlobServiceProperties", func(t *T, c *client) {
		set := service.SetPropertiesOptions{
			Logging: logging(5), HourMetrics: metrics(6), MinuteMetrics: metrics(7),
			CORS: []*service.CORSRule{corsRule("http://one.example"), corsRule("*")},
		}
		c.setProperties(t, set, func(found service.StorageServiceProperties) bool { return len(found.CORS) == 2 })
		found := c.getProperties(t)
		require.Equal(t, set.Logging, found.Logging)
		require.Equal(t, set.HourMetrics, found.HourMetrics)
		require.Equal(t, set.MinuteMetrics, found.MinuteMetrics)
		require.Equal(t, set.CORS, found.CORS)
	})
}

func TestBlobServicePropertiesLeftOutKeepTheirValue(t *testing.T) {
	conform(t, "SetBlobServiceProperties", func(t *T, c *client) {
		first := service.SetPropertiesOptions{Logging: logging(11)}
		c.setProperties(t, first, func(found service.StorageServiceProperties) bool {
			return *found.Logging.RetentionPolicy.Enabled && *found.Logging.RetentionPolicy.Days == 11
		})
		second := service.SetPropertiesOptions{HourMetrics: metrics(12)}
		c.setProperties(t, second, func(found service.StorageServiceProperties) bool {
			return *found.HourMetrics.RetentionPolicy.Enabled && *found.HourMetrics.RetentionPolicy.Days == 12
		})
		require.Equal(t, logging(11), c.getProperties(t).Logging)
	})
}

func TestBlobServiceRefusesRetentionOf366Days(t *testing.T) {
	conform(t, "SetBlobServiceProperties", func(t *T, c *client) {
		c.restoreAfterwards(t)
		_, err := c.service.SetProperties(ctx, &service.SetPropertiesOptions{HourMetrics: metrics(366)})
		requireRefused(t, err, 400, "InvalidXmlDocument")
	})
}

func (c *client) allowOrigin(t *T, origin string) {
	t.Helper()
	rules := service.SetPropertiesOptions{CORS: []*service.CORSRule{corsRule(origin)}}
	c.setProperties(t, rules, func(found service.StorageServiceProperties) bool {
		return len(found.CORS) == 1 && *found.CORS[0].AllowedOrigins == origin
	})
}

func TestBlobServiceAnswersAnAllowedOrigin(t *testing.T) {
	conform(t, "SetBlobServiceProperties", func(t *T, c *client) {
		c.allowOrigin(t, "http://allowed.example")
		for origin, allowed := range map[string]string{
			"http://allowed.example": "http://allowed.example", "http://other.example": "",
		} {
			response, _, err := exchange(t, http.Header{"Origin": {origin}}, func(ctx context.Context) error {
				return failure(c.container.GetProperties(ctx, nil))
			})
			require.NoError(t, err, "CORS never refuses the request itself")
			require.Equal(t, allowed, response.Header.Get("Access-Control-Allow-Origin"))
		}
	})
}

// The SDK has no preflight; a browser sends it, so this does too.
func (c *client) preflight(t *T, origin, method string) *http.Response {
	t.Helper()
	request, err := http.NewRequest(http.MethodOptions, c.account.Endpoint("Blob")+"/"+c.name, nil)
	require.NoError(t, err)
	request.Header.Set("Origin", origin)
	request.Header.Set("Access-Control-Request-Method", method)
	request.Header.Set("Access-Control-Request-Headers", "x-ms-version,Content-Type")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response
}

func TestBlobPreflightOfAnAllowedRequest(t *testing.T) {
	conform(t, "BlobPreflightRequest", func(t *T, c *client) {
		c.allowOrigin(t, "http://allowed.example")
		response := c.preflight(t, "http://allowed.example", "PUT")
		require.Equal(t, 200, response.StatusCode)
		require.Equal(t, "http://allowed.example", response.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, response.Header.Get("Access-Control-Allow-Methods"), "PUT")
		require.Equal(t, "60", response.Header.Get("Access-Control-Max-Age"))
	})
}

func TestBlobPreflightIsRefused(t *testing.T) {
	for name, request := range map[string][2]string{
		"for another origin": {"http://other.example", "GET"},
		"for another method": {"http://allowed.example", "DELETE"},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "BlobPreflightRequest", func(t *T, c *client) {
				c.allowOrigin(t, "http://allowed.example")
				require.Equal(t, 403, c.preflight(t, request[0], request[1]).StatusCode)
			})
		})
	}
}

func TestBlobSecondaryTellsItsReplicationState(t *testing.T) {
	conform(t, "GetBlobServiceStats", func(t *T, c *client) {
		secondary, err := service.NewClientWithSharedKeyCredential(
			c.account.Secondary("Blob")+"/", credential(t, c.account), &service.ClientOptions{ClientOptions: impatient()})
		require.NoError(t, err)
		statistics, err := secondary.GetStatistics(ctx, nil)
		require.NoError(t, err)
		require.Contains(t, []string{"live", "bootstrap", "unavailable"}, orEmpty(statistics.GeoReplication.Status))
	})
}

func TestBlobPrimaryHasNoStatistics(t *testing.T) {
	conform(t, "GetBlobServiceStats", func(t *T, c *client) {
		_, err := c.service.GetStatistics(ctx, nil)
		requireRefused(t, err, 400, "InvalidQueryParameterValue")
	})
}

func TestBlobServiceKeepsItsOwnProperties(t *testing.T) {
	conform(t, "SetBlobServiceProperties", func(t *T, c *client) {
		set := service.SetPropertiesOptions{
			DefaultServiceVersion: to.Ptr("2019-12-12"), DeleteRetentionPolicy: &service.RetentionPolicy{Enabled: to.Ptr(false)},
			StaticWebsite: &service.StaticWebsite{
				Enabled: to.Ptr(true), IndexDocument: to.Ptr("index.html"), ErrorDocument404Path: to.Ptr("404.html"),
			},
		}
		c.setProperties(t, set, func(found service.StorageServiceProperties) bool {
			return orEmpty(found.DefaultServiceVersion) == "2019-12-12"
		})
		found := c.getProperties(t)
		require.False(t, *found.DeleteRetentionPolicy.Enabled)
		require.Equal(t, "index.html", orEmpty(found.StaticWebsite.IndexDocument))
		require.Equal(t, "404.html", orEmpty(found.StaticWebsite.ErrorDocument404Path))
	})
}

func TestAccountTellsItsKind(t *testing.T) {
	conform(t, "GetAccountInformation", func(t *T, c *client) {
		c.put(t, "b", "text")
		info, err := c.service.GetAccountInfo(ctx, nil)
		require.NoError(t, err)
		require.Equal(t, "StorageV2", orEmpty(info.AccountKind))
		require.NotEmpty(t, orEmpty(info.SKUName))
		require.NoError(t, failure(c.container.GetAccountInfo(ctx, nil)))
		require.NoError(t, failure(c.blob("b").GetAccountInfo(ctx, nil)))
	})
}
