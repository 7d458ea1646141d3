//! The terms of a service SAS to be signed: the fields that tables, queues and blobs share.

/// Defines the terms for one kind of resource: its name, and the fields that only this kind has.
macro_rules! service_sas_terms {
    (
        $(#[$meta:meta])*
        $terms:ident { $(#[$resource_meta:meta])* $resource:ident: $name:ty, $permissions:ty }
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $terms {
            /// The version that defines the string-to-sign.
            pub version: crate::ServiceVersion,
            $(#[$resource_meta])*
            pub $resource: $name,
            /// The permissions; `None` if the stored access policy has them.
            pub permissions: Option<$permissions>,
            /// The time from which the token is valid; `None` if the stored access policy has it, or from now on.
            pub start: Option<crate::DateTime>,
            /// The time until which the token is valid; `None` if the stored access policy has it.
            pub expiry: Option<crate::DateTime>,
            /// The id of a stored access policy.
            pub identifier: Option<String>,
            /// The addresses that may use the token; `None` for all.
            pub source: Option<super::IpRange>,
            /// The protocols that the token may be used over; `None` for HTTPS and HTTP.
            pub protocol: Option<super::SasProtocol>,
            $($(#[$field_meta])* pub $field: $type,)*
        }

        impl $terms {
            /// Returns terms with the latest version, the permissions and the expiry; the other fields are empty.
            pub fn new($resource: impl Into<$name>, permissions: $permissions, expiry: crate::DateTime) -> Self {
                Self {
                    permissions: Some(permissions),
                    expiry: Some(expiry),
                    identifier: None,
                    ..Self::from_policy($resource, "")
                }
            }

            /// Returns terms that leave the permissions and the times to a stored access policy.
            pub fn from_policy($resource: impl Into<$name>, identifier: impl Into<String>) -> Self {
                Self {
                    version: crate::ServiceVersion::LATEST,
                    $resource: $resource.into(),
                    permissions: None,
                    start: None,
                    expiry: None,
                    identifier: Some(identifier.into()),
                    source: None,
                    protocol: None,
                    $($field: Default::default(),)*
                }
            }

            /// Rejects a version that does not sign all fields; `oldest` is the first that signs this kind of SAS.
            fn check_version(&self, oldest: crate::ServiceVersion) -> Result<(), super::SasTermsError> {
                let limits_origin = self.source.is_some() || self.protocol.is_some();
                let oldest = if limits_origin { oldest.max(crate::ServiceVersion::ACCOUNT_SAS) } else { oldest };
                if self.version < oldest { Err(super::SasTermsError::VersionTooOld) } else { Ok(()) }
            }

            /// Returns the parameters of the shared fields and the `others`.
            fn parameters<const N: usize>(
                &self,
                others: [(super::SasParameter, Option<String>); N],
            ) -> super::SasParameters<'static> {
                use super::SasParameter as P;
                super::SasParameters::default()
                    .with(others)
                    .with([(P::Permissions, self.permissions.map(|permissions| permissions.to_string()))])
                    .with([(P::Expiry, self.expiry.map(super::constraints::write_time))])
                    .with([(P::Identifier, self.identifier.clone())])
                    .with_origin(self.version, self.start, self.source, self.protocol)
            }
        }
    };
}

pub(super) use service_sas_terms;
