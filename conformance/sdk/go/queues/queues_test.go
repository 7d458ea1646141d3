package queues

// Queues: made, removed, listed.

import (
	"context"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue"
	"github.com/stretchr/testify/require"
)

// status is that of the answer under a call that succeeds.
func status(t *T, call func(context.Context) error) int {
	t.Helper()
	response, _, err := exchange(t, nil, call)
	require.NoError(t, err)
	return response.StatusCode
}

func TestQueueIsCreated(t *testing.T) {
	conform(t, "CreateQueue", func(t *T, c *client) {
		name := newQueueName(t)
		c.deleteAfterwards(t, name)
		require.Equal(t, 201, status(t, func(ctx context.Context) error {
			_, err := c.service.CreateQueue(ctx, name, nil)
			return err
		}))
	})
}

func TestQueueIsCreatedAgainWithTheSameMetadata(t *testing.T) {
	conform(t, "CreateQueue", func(t *T, c *client) {
		name := newQueueName(t)
		c.deleteAfterwards(t, name)
		options := &azqueue.CreateOptions{Metadata: map[string]*string{"Colour": to.Ptr("red")}}
		create := func(ctx context.Context) error {
			_, err := c.service.CreateQueue(ctx, name, options)
			return err
		}
		require.Equal(t, 201, status(t, create))
		require.Equal(t, 204, status(t, create))
	})
}

func TestQueueAlreadyExistsWith(t *testing.T) {
	for name, metadata := range map[string]map[string]*string{
		"another value": {"colour": to.Ptr("RED")},
		"another name":  {"hue": to.Ptr("red")},
		"one name more": {"colour": to.Ptr("red"), "hue": to.Ptr("red")},
		"no metadata":   {},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "CreateQueue", func(t *T, c *client) {
				queue := newQueueName(t)
				c.deleteAfterwards(t, queue)
				first := map[string]*string{"colour": to.Ptr("red")}
				_, err := c.service.CreateQueue(ctx, queue, &azqueue.CreateOptions{Metadata: first})
				require.NoError(t, err)
				_, err = c.service.CreateQueue(ctx, queue, &azqueue.CreateOptions{Metadata: metadata})
				requireRefused(t, err, 409, "QueueAlreadyExists")
			})
		})
	}
}

func TestCreateQueueAcceptsName(t *testing.T) {
	for name, length := range map[string]int{"of three characters": 3, "of 63 characters": 63} {
		t.Run(name, func(t *testing.T) {
			conform(t, "CreateQueue", func(t *T, c *client) {
				queue := strings.Repeat("q1-", 21) + newQueueName(t)
				queue = queue[len(queue)-length:]
				c.deleteAfterwards(t, queue)
				_, err := c.service.CreateQueue(ctx, queue, nil)
				require.NoError(t, err)
			})
		})
	}
}

func TestCreateQueueRefusesName(t *testing.T) {
	for _, each := range []struct{ name, queue, code string }{
		{"of two characters", "ab", "OutOfRangeInput"},
		{"of 64 characters", strings.Repeat("a", 64), "OutOfRangeInput"},
		{"with an upper case letter", "Abc", "InvalidResourceName"},
		{"with an underscore", "a_b", "InvalidResourceName"},
		{"with two dashes in a row", "a--b", "InvalidResourceName"},
		{"with a dash at its start", "-abc", "InvalidResourceName"},
		{"with a dash at its end", "abc-", "InvalidResourceName"},
		{"with a dot", "a.bc", "InvalidResourceName"},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, "CreateQueue", func(t *T, c *client) {
				_, err := c.service.CreateQueue(ctx, each.queue, nil)
				requireRefused(t, err, 400, each.code)
			})
		})
	}
}

func TestQueueIsDeletedWithItsMessages(t *testing.T) {
	conform(t, "DeleteQueue", func(t *T, c *client) {
		c.put(t, "gone")
		require.Equal(t, 204, status(t, func(ctx context.Context) error {
			_, err := c.queue.Delete(ctx, nil)
			return err
		}))
		_, err := c.queue.PeekMessages(ctx, nil)
		requireRefused(t, err, 404, "QueueNotFound")
	})
}

func TestMissingQueueIsNotFoundBy(t *testing.T) {
	for _, each := range []struct {
		operation, name string
		attempt         func(queue *azqueue.QueueClient) error
	}{
		{"DeleteQueue", "delete", func(queue *azqueue.QueueClient) error {
			_, err := queue.Delete(ctx, nil)
			return err
		}},
		{"GetQueueMetadata", "get metadata", func(queue *azqueue.QueueClient) error {
			_, err := queue.GetProperties(ctx, nil)
			return err
		}},
		{"SetQueueMetadata", "set metadata", func(queue *azqueue.QueueClient) error {
			_, err := queue.SetMetadata(ctx, nil)
			return err
		}},
		{"GetQueueACL", "get policies", func(queue *azqueue.QueueClient) error {
			_, err := queue.GetAccessPolicy(ctx, nil)
			return err
		}},
		{"SetQueueACL", "set policies", func(queue *azqueue.QueueClient) error {
			_, err := queue.SetAccessPolicy(ctx, nil)
			return err
		}},
		{"PutMessage", "put", func(queue *azqueue.QueueClient) error {
			_, err := queue.EnqueueMessage(ctx, "text", nil)
			return err
		}},
		{"GetMessages", "get", func(queue *azqueue.QueueClient) error {
			_, err := queue.DequeueMessage(ctx, nil)
			return err
		}},
		{"PeekMessages", "peek", func(queue *azqueue.QueueClient) error {
			_, err := queue.PeekMessage(ctx, nil)
			return err
		}},
		{"ClearMessages", "clear", func(queue *azqueue.QueueClient) error {
			_, err := queue.ClearMessages(ctx, nil)
			return err
		}},
	} {
		t.Run(each.name, func(t *testing.T) {
			conform(t, each.operation, func(t *T, c *client) {
				requireRefused(t, each.attempt(c.missing(t)), 404, "QueueNotFound")
			})
		})
	}
}

// family makes queues whose names share a prefix of their own, and lists them.
func (c *client) family(t *T, members ...string) string {
	t.Helper()
	prefix := newQueueName(t)
	for _, member := range members {
		_, err := c.service.CreateQueue(ctx, prefix+member, &azqueue.CreateOptions{
			Metadata: map[string]*string{"Member": to.Ptr(member)},
		})
		require.NoError(t, err)
		c.deleteAfterwards(t, prefix+member)
	}
	return prefix
}

// list reads every page and returns the names without the prefix, page by page.
func (c *client) list(t *T, prefix string, options azqueue.ListQueuesOptions) [][]string {
	t.Helper()
	options.Prefix = to.Ptr(prefix)
	pager := c.service.NewListQueuesPager(&options)
	var pages [][]string
	for pager.More() {
		page, err := pager.NextPage(ctx)
		require.NoError(t, err)
		names := []string{}
		for _, queue := range page.Queues {
			names = append(names, strings.TrimPrefix(*queue.Name, prefix))
		}
		pages = append(pages, names)
	}
	return pages
}

func TestQueuesAreListedByNameInOnePage(t *testing.T) {
	conform(t, "ListQueues", func(t *T, c *client) {
		prefix := c.family(t, "b", "a", "c2", "c10")
		require.Equal(t, [][]string{{"a", "b", "c10", "c2"}}, c.list(t, prefix, azqueue.ListQueuesOptions{}))
	})
}

func TestQueuesAreListedInPages(t *testing.T) {
	conform(t, "ListQueues", func(t *T, c *client) {
		prefix := c.family(t, "1", "2", "3", "4", "5")
		pages := c.list(t, prefix, azqueue.ListQueuesOptions{MaxResults: to.Ptr(int32(2))})
		require.Equal(t, [][]string{{"1", "2"}, {"3", "4"}, {"5"}}, pages)
	})
}

func TestListingOfQueuesContinuesFromAMarker(t *testing.T) {
	conform(t, "ListQueues", func(t *T, c *client) {
		prefix := c.family(t, "1", "2", "3")
		first, err := c.service.NewListQueuesPager(&azqueue.ListQueuesOptions{
			Prefix: to.Ptr(prefix), MaxResults: to.Ptr(int32(1)),
		}).NextPage(ctx)
		require.NoError(t, err)
		require.Equal(t, []string{prefix, ""}, []string{*first.Prefix, orEmpty(first.Marker)})
		require.Equal(t, int32(1), *first.MaxResults)
		rest := c.list(t, prefix, azqueue.ListQueuesOptions{Marker: first.NextMarker})
		require.Equal(t, [][]string{{"2", "3"}}, rest)
	})
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func TestListingShowsMetadataOnlyWhenAsked(t *testing.T) {
	for name, include := range map[string]bool{"asked": true, "not asked": false} {
		t.Run(name, func(t *testing.T) {
			conform(t, "ListQueues", func(t *T, c *client) {
				prefix := c.family(t, "x")
				page, err := c.service.NewListQueuesPager(&azqueue.ListQueuesOptions{
					Prefix: to.Ptr(prefix), Include: azqueue.ListQueuesInclude{Metadata: include},
				}).NextPage(ctx)
				require.NoError(t, err)
				require.Len(t, page.Queues, 1)
				if !include {
					require.Empty(t, page.Queues[0].Metadata)
					return
				}
				require.Len(t, page.Queues[0].Metadata, 1)
				for name, value := range page.Queues[0].Metadata {
					require.Equal(t, "member=x", strings.ToLower(name)+"="+*value)
				}
			})
		})
	}
}

func TestListingOfNoQueuesIsEmpty(t *testing.T) {
	conform(t, "ListQueues", func(t *T, c *client) {
		require.Equal(t, [][]string{{}}, c.list(t, newQueueName(t), azqueue.ListQueuesOptions{}))
	})
}

func TestListingTellsTheEndpoint(t *testing.T) {
	conform(t, "ListQueues", func(t *T, c *client) {
		page, err := c.service.NewListQueuesPager(nil).NextPage(ctx)
		require.NoError(t, err)
		require.Equal(t, c.account.Endpoint("Queue"), strings.TrimSuffix(*page.ServiceEndpoint, "/"))
	})
}

func TestListQueuesRefusesPagesOfNone(t *testing.T) {
	conform(t, "ListQueues", func(t *T, c *client) {
		_, err := c.service.NewListQueuesPager(&azqueue.ListQueuesOptions{MaxResults: to.Ptr(int32(0))}).NextPage(ctx)
		requireRefused(t, err, 400, "OutOfRangeQueryParameterValue")
	})
}
