//! Headers and parameters of a request as the service's own types.

use http::{HeaderName, header};
use tablerock_protocol::blob::{
    AccessTier, BlockId, Conditions, ContentHeaders, ContentMd5, ContentType, Crc64, EtagList, LeaseAction,
    LeaseDuration, LeaseId, Md5, RangeAsked, TagCondition, Tags, TierCondition, parse_http_date,
};
use tablerock_protocol::{DateTime, ErrorCode, Metadata, QueryString, ServiceError, ServiceVersion};
use tablerock_services::blob::{BlobAddress, PublicAccess, ReadTerms, WriteTerms};

use super::BlobCall;
use super::names::*;
use super::request::{BlobTarget, LeaseVerb};
use crate::http::headers::CONTENT_MD5;
use crate::http::metadata;

impl<'a> BlobCall<'a> {
    /// A blob of the request's account.
    pub(super) fn address<'b>(&self, at: BlobTarget<'b>) -> BlobAddress<'b>
    where
        'a: 'b,
    {
        BlobAddress { account: self.account(), container: at.container.as_str(), name: at.blob.as_str() }
    }

    /// The snapshot that is addressed, if any.
    pub(super) fn snapshot(&self) -> Result<Option<DateTime>, ServiceError> {
        debug_assert!(
            ["snapshot", "versionid"].iter().all(|name| self.operation.knows_parameter(name)),
            "{:?} reads snapshot and versionid",
            self.operation
        );
        parse_snapshot(self.query)
    }

    /// Rejects a write to a snapshot.
    pub(super) fn check_no_snapshot(&self) -> Result<(), ServiceError> {
        if self.snapshot()?.is_some() { Err(ErrorCode::InvalidOperation.into()) } else { Ok(()) }
    }

    pub(super) fn conditions(&self) -> Result<Conditions, ServiceError> {
        // Most requests have none, and to look at all names once is cheaper than to look for four of them.
        if !self.headers.keys().any(|name| name.as_str().starts_with("if-")) {
            return Ok(Conditions::default());
        }
        self.conditions_of([
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            header::IF_MODIFIED_SINCE,
            header::IF_UNMODIFIED_SINCE,
        ])
    }

    pub(super) fn source_conditions(&self) -> Result<Conditions, ServiceError> {
        self.conditions_of([
            SOURCE_IF_MATCH,
            SOURCE_IF_NONE_MATCH,
            SOURCE_IF_MODIFIED_SINCE,
            SOURCE_IF_UNMODIFIED_SINCE,
        ])
    }

    /// The conditions of a request for tags.
    pub(super) fn blob_conditions(&self) -> Result<Conditions, ServiceError> {
        self.conditions_of([BLOB_IF_MATCH, BLOB_IF_NONE_MATCH, BLOB_IF_MODIFIED_SINCE, BLOB_IF_UNMODIFIED_SINCE])
    }

    fn conditions_of(&self, names: [HeaderName; 4]) -> Result<Conditions, ServiceError> {
        let [matches, none_match, modified, unmodified] = names;
        Ok(Conditions {
            if_match: self.parsed(&matches, EtagList::parse)?,
            if_none_match: self.parsed(&none_match, EtagList::parse)?,
            if_modified_since: self.date(&modified)?,
            if_unmodified_since: self.date(&unmodified)?,
        })
    }

    fn date(&self, name: &HeaderName) -> Result<Option<DateTime>, ServiceError> {
        self.parsed(name, |text| parse_http_date(text).ok_or_else(|| ErrorCode::InvalidHeaderValue.into()))
    }

    /// Parses a header. The error names it.
    pub(super) fn parsed<T>(
        &self,
        name: &HeaderName,
        parse: impl FnOnce(&str) -> Result<T, ServiceError>,
    ) -> Result<Option<T>, ServiceError> {
        let Some(value) = self.header_value(name) else { return Ok(None) };
        let Ok(text) = value.to_str() else { return Err(ServiceError::invalid_header(name.as_str(), "")) };
        parse(text).map(Some).map_err(|error| match error.code {
            ErrorCode::InvalidHeaderValue => ServiceError::invalid_header(name.as_str(), text),
            _ => error,
        })
    }

    pub(super) fn number(&self, name: &HeaderName) -> Result<Option<u64>, ServiceError> {
        self.parsed(name, |text| text.trim().parse().map_err(|_| ErrorCode::InvalidHeaderValue.into()))
    }

    pub(super) fn lease_id(&self) -> Result<Option<LeaseId>, ServiceError> {
        self.parsed(&LEASE_ID, LeaseId::parse)
    }

    pub(super) fn read_terms(&self) -> Result<ReadTerms, ServiceError> {
        let (conditions, lease) = (self.conditions()?, self.lease_id()?);
        Ok(ReadTerms { conditions, tags: self.if_tags()?, lease })
    }

    pub(super) fn if_tags(&self) -> Result<Option<TagCondition>, ServiceError> {
        self.parsed(&IF_TAGS, TagCondition::parse)
    }

    pub(super) fn write_terms(&self) -> Result<WriteTerms, ServiceError> {
        let ReadTerms { conditions, tags, lease } = self.read_terms()?;
        conditions.check_combination()?;
        Ok(WriteTerms {
            conditions,
            tags,
            lease,
            may_only_create: !self.caller.can_overwrite(),
            ..WriteTerms::default()
        })
    }

    /// The same with the digest of the customer's key.
    pub(super) fn keyed_write_terms(&self) -> Result<WriteTerms, ServiceError> {
        Ok(WriteTerms { key_digest: self.key_digest()?, ..self.write_terms()? })
    }

    /// The conditions of Delete Blob on the time of the tier.
    pub(super) fn tier_condition(&self) -> Result<TierCondition, ServiceError> {
        Ok(TierCondition {
            if_modified_since: self.date(&ACCESS_TIER_IF_MODIFIED_SINCE)?,
            if_unmodified_since: self.date(&ACCESS_TIER_IF_UNMODIFIED_SINCE)?,
        })
    }

    pub(super) fn metadata(&self) -> Result<Metadata, ServiceError> {
        metadata::read(self.headers, self.cx.header_case())
    }

    /// The content headers of a new blob. If the body is the blob's, the headers of the request itself fill in for missing
    /// ones.
    pub(super) fn content_headers(&self, with_request: bool) -> Result<ContentHeaders, ServiceError> {
        let text = |own: HeaderName, request: Option<HeaderName>| {
            let request = request.filter(|_| with_request).and_then(|name| self.header(&name));
            self.header(&own).or(request).unwrap_or_default().to_owned()
        };
        let content_type = self.header(&header::CONTENT_TYPE).filter(|_| with_request);
        let content_type = self.header(&BLOB_CONTENT_TYPE).or(content_type);
        Ok(ContentHeaders {
            content_type: ContentType::of_new(content_type),
            encoding: text(BLOB_CONTENT_ENCODING, Some(header::CONTENT_ENCODING)),
            language: text(BLOB_CONTENT_LANGUAGE, Some(header::CONTENT_LANGUAGE)),
            disposition: text(BLOB_CONTENT_DISPOSITION, None),
            cache_control: text(BLOB_CACHE_CONTROL, Some(header::CACHE_CONTROL)),
            md5: self.parsed(&BLOB_CONTENT_MD5, ContentMd5::parse)?,
        })
    }

    /// The checksums that a client gave for its body.
    pub(super) fn body_checksums(&self) -> Result<(Option<Md5>, Option<Crc64>), ServiceError> {
        let md5 = self.parsed(&CONTENT_MD5, Md5::parse)?;
        let crc64 = self.parsed(&CONTENT_CRC64, Crc64::parse)?;
        match (md5, crc64) {
            (Some(_), Some(_)) if self.cx.version < ServiceVersion::BOTH_CHECKSUMS => {
                Err(ErrorCode::BothCrc64AndMd5HeaderPresent.into())
            }
            checksums => Ok(checksums),
        }
    }

    pub(super) fn tags(&self) -> Result<Tags, ServiceError> {
        Ok(self.parsed(&TAGS, Tags::parse_header)?.unwrap_or_default())
    }

    pub(super) fn tier(&self) -> Result<Option<String>, ServiceError> {
        Ok(self.access_tier()?.map(|tier| tier.name().to_owned()))
    }

    pub(super) fn access_tier(&self) -> Result<Option<AccessTier>, ServiceError> {
        if self.header(&ACCESS_TIER).is_some_and(AccessTier::is_of_premium_pages) {
            return Err(ErrorCode::AccessTierNotSupportedForBlobType.into());
        }
        match self.keyword(&ACCESS_TIER)? {
            Some(AccessTier::Smart) if self.cx.version < ServiceVersion::SMART_TIER => {
                Err(ServiceError::invalid_header(ACCESS_TIER.as_str(), AccessTier::Smart.name()))
            }
            tier => Ok(tier),
        }
    }

    pub(super) fn public_access(&self) -> Result<PublicAccess, ServiceError> {
        Ok(self.keyword(&PUBLIC_ACCESS)?.unwrap_or_default())
    }

    pub(super) fn range(&self) -> Option<RangeAsked> {
        self.header(&RANGE).or_else(|| self.header(&header::RANGE)).and_then(RangeAsked::parse)
    }

    pub(super) fn block_id(&self) -> Result<BlockId, ServiceError> {
        let text = self.parameter("blockid").ok_or_else(|| ServiceError::missing_parameter("blockid"))?;
        let invalid = |_| ServiceError::invalid_parameter("blockid", text, "Not a valid base64 string.");
        // Some clients do not encode the plus signs of base64, which a query decodes as blanks.
        BlockId::parse(&text.replace(' ', "+")).map_err(invalid)
    }

    /// The action of a lease operation, with its parameters.
    pub(super) fn lease_action(&self, verb: LeaseVerb) -> Result<LeaseAction, ServiceError> {
        let id = || self.lease_id()?.ok_or_else(|| ServiceError::missing_header(LEASE_ID.as_str()));
        let proposed = self.parsed(&PROPOSED_LEASE_ID, LeaseId::parse)?;
        Ok(match verb {
            LeaseVerb::Acquire => {
                let duration = self.parsed(&LEASE_DURATION, LeaseDuration::parse)?;
                let duration = duration.ok_or_else(|| ServiceError::missing_header(LEASE_DURATION.as_str()))?;
                LeaseAction::Acquire { duration, proposed }
            }
            LeaseVerb::Renew => LeaseAction::Renew { id: id()? },
            LeaseVerb::Change => {
                let missing = || ServiceError::missing_header(PROPOSED_LEASE_ID.as_str());
                LeaseAction::Change { id: id()?, proposed: proposed.ok_or_else(missing)? }
            }
            LeaseVerb::Release => LeaseAction::Release { id: id()? },
            LeaseVerb::Break => {
                let period_seconds = self.parsed(&LEASE_BREAK_PERIOD, LeaseAction::parse_break_period)?;
                LeaseAction::Break { period_seconds }
            }
        })
    }
}

/// The snapshot that the query of a blob's URL names, if any. There are no versions.
pub(super) fn parse_snapshot(query: &QueryString<'_>) -> Result<Option<DateTime>, ServiceError> {
    if let Some(version) = query.value("versionid") {
        let invalid = |_| ServiceError::invalid_parameter("versionid", version, "Not a version.");
        DateTime::parse(version).map_err(invalid)?;
        return Err(ErrorCode::BlobNotFound.into());
    }
    let invalid = |text| ServiceError::invalid_parameter("snapshot", text, "Not a time.");
    query.value("snapshot").map(|text| DateTime::parse(text).map_err(|_| invalid(text))).transpose()
}
