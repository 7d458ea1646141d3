//! The rule that names of queues and of containers share: they once had to be names of hosts.

use crate::{ErrorCode, ServiceError, limits};

/// Lower-case letters, digits and single hyphens between them, 3 to 63 characters.
pub(super) fn check(name: &str) -> Result<(), ServiceError> {
    if !limits::LOWER_CASE_NAME_CHARS.contains(&name.chars().count()) {
        return Err(ErrorCode::OutOfRangeInput.into());
    }
    let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !plain || name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        return Err(ErrorCode::InvalidResourceName.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_as_the_service_does() {
        let code = |name: &str| check(name).err().map(|error| error.code);
        for good in ["abc", "123", "a-b-c", &"a".repeat(63)] {
            assert_eq!(code(good), None, "{good}");
        }
        for short_or_long in ["", "ab", &"a".repeat(64)] {
            assert_eq!(code(short_or_long), Some(ErrorCode::OutOfRangeInput), "{short_or_long}");
        }
        for bad in ["Abc", "a--b", "-abc", "abc-", "a_bc", "abcé", "$root", "a.b"] {
            assert_eq!(code(bad), Some(ErrorCode::InvalidResourceName), "{bad}");
        }
    }
}
