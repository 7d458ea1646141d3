//! Packages: the image, the Debian package, the wheel, the npm package, and everything of a version in `dist/`.

pub(crate) mod binary;
mod busybox;
mod changelog;
pub(crate) mod check;
pub(crate) mod crates;
mod deb;
pub(crate) mod image;
mod npm;
pub(crate) mod release;
mod sbom;
mod sources;
pub(crate) mod version;
mod wheel;
