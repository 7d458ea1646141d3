//! Packages: the image, the Debian package, the wheel, the npm package, and everything of a version in `dist/`.

pub(crate) mod binary;
pub(crate) mod busybox;
pub(crate) mod check;
pub(crate) mod deb;
pub(crate) mod image;
pub(crate) mod npm;
mod sources;
pub(crate) mod version;
pub(crate) mod wheel;
