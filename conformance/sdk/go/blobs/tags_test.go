package blobs

// Tiers and tags.

import (
	"fmt"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/stretchr/testify/require"
)

func TestTierIsSet(t *testing.T) {
	conform(t, "SetBlobTier", func(t *T, c *client) {
		c.put(t, "b", "text")
		etag := *c.properties(t, "b").ETag
		require.NoError(t, failure(c.blob("b").SetTier(ctx, blob.AccessTierCool, nil)))
		found := c.properties(t, "b")
		require.Equal(t, "Cool", *found.AccessTier)
		require.False(t, found.AccessTierInferred != nil && *found.AccessTierInferred)
		require.Equal(t, etag, *found.ETag)
	})
}

func TestTagsAreKept(t *testing.T) {
	for name, tags := range map[string]map[string]string{
		"of letters": {"project": "one two"}, "of punctuation": {"a+b-c.d/e:f=g_h": "+-./:=_ "}, "of no value": {"empty": ""},
		"ten at once": {"0": "a", "1": "b", "2": "c", "3": "d", "4": "e", "5": "f", "6": "g", "7": "h", "8": "i", "9": "j"},
	} {
		t.Run(name, func(t *testing.T) {
			conform(t, "SetBlobTags", func(t *T, c *client) {
				put := c.put(t, "b", "text")
				require.NoError(t, failure(c.blob("b").SetTags(ctx, tags, nil)))
				require.Equal(t, tags, c.tags(t, "b"))
				found := c.properties(t, "b")
				require.Equal(t, int64(len(tags)), *found.TagCount)
				require.Equal(t, *put.ETag, *found.ETag)
			})
		})
	}
}

func TestTagsAreReplacedAndCleared(t *testing.T) {
	conform(t, "SetBlobTags", func(t *T, c *client) {
		c.putWith(t, "b", "text", &blockblob.UploadOptions{Tags: map[string]string{"of": "the upload"}})
		require.Equal(t, map[string]string{"of": "the upload"}, c.tags(t, "b"))
		require.NoError(t, failure(c.blob("b").SetTags(ctx, map[string]string{"new": "tag"}, nil)))
		require.Equal(t, map[string]string{"new": "tag"}, c.tags(t, "b"))
		require.NoError(t, failure(c.blob("b").SetTags(ctx, nil, nil)))
		require.Empty(t, c.tags(t, "b"))
	})
}

func (c *client) tags(t *T, name string) map[string]string {
	t.Helper()
	response, err := c.blob(name).GetTags(ctx, nil)
	require.NoError(t, err)
	tags := map[string]string{}
	for _, tag := range response.BlobTagSet {
		tags[*tag.Key] = *tag.Value
	}
	return tags
}

func TestElevenTagsAreRefused(t *testing.T) {
	conform(t, "SetBlobTags", func(t *T, c *client) {
		c.put(t, "b", "text")
		tags := map[string]string{}
		for i := range 11 {
			tags[fmt.Sprint(i)] = "v"
		}
		requireRefusedWith(t, failure(c.blob("b").SetTags(ctx, tags, nil)), 400)
	})
}

func TestTagsAreListedWhenAsked(t *testing.T) {
	conform(t, "ListBlobs", func(t *T, c *client) {
		c.put(t, "b", "text")
		require.NoError(t, failure(c.blob("b").SetTags(ctx, map[string]string{"k": "v"}, nil)))
		items := c.list(t, &container.ListBlobsFlatOptions{Include: container.ListBlobsInclude{Tags: true}})
		require.Len(t, items[0].BlobTags.BlobTagSet, 1)
		require.Equal(t, "v", *items[0].BlobTags.BlobTagSet[0].Value)
	})
}

func TestConditionOnTags(t *testing.T) {
	conform(t, "GetBlob", func(t *T, c *client) {
		c.put(t, "b", "text")
		require.NoError(t, failure(c.blob("b").SetTags(ctx, map[string]string{"k": "v"}, nil)))
		asked := func(text string) *blob.GetPropertiesOptions {
			return &blob.GetPropertiesOptions{AccessConditions: conditions(blob.ModifiedAccessConditions{IfTags: to.Ptr(text)})}
		}
		require.NoError(t, failure(c.blob("b").GetProperties(ctx, asked(`"k" = 'v'`))))
		requireRefused(t, failure(c.blob("b").GetProperties(ctx, asked(`"k" = 'w'`))), 412, "ConditionNotMet")
	})
}
