//! The file of a call, as a path below the watched folder.

use core::sync::atomic::{AtomicPtr, Ordering};

use crate::gate::{call, die};

const BYTES_MAX: usize = 4096;

/// A path in a fixed buffer: a signal handler must not allocate.
#[derive(Clone)]
pub(crate) struct Path {
    bytes: [u8; BYTES_MAX],
    length: usize,
}

static FOLDER: AtomicPtr<Path> = AtomicPtr::new(core::ptr::null_mut());

/// Sets the watched folder.
pub(crate) fn watch(folder: &[u8]) {
    let mut path = Path::empty();
    path.push(folder);
    FOLDER.store(Box::into_raw(Box::new(path)), Ordering::Release);
}

impl Path {
    fn empty() -> Self {
        Self { bytes: [0; BYTES_MAX], length: 0 }
    }

    fn push(&mut self, more: &[u8]) {
        if self.length + more.len() >= BYTES_MAX {
            die(b"a path is too long:", more.len() as i64);
        }
        self.bytes[self.length..self.length + more.len()].copy_from_slice(more);
        self.length += more.len();
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The part below the watched folder, without a slash before it; `None` if the path is elsewhere.
    pub(crate) fn below(&self) -> Option<&[u8]> {
        // SAFETY: the folder is never freed.
        let folder = unsafe { FOLDER.load(Ordering::Acquire).as_ref() }?;
        match self.as_bytes().strip_prefix(folder.as_bytes())? {
            [] => Some(&[]),
            [b'/', rest @ ..] => Some(rest),
            _ => None,
        }
    }

    /// The path of a descriptor. For anything but an existing file, the path is not below the watched folder.
    pub(crate) fn of_descriptor(descriptor: i64) -> Self {
        if descriptor < 0 {
            return Self::empty();
        }
        let mut link = Self::empty();
        link.push(b"/proc/self/fd/");
        let mut digits = [0; 20];
        let mut start = digits.len();
        let mut rest = descriptor.unsigned_abs();
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        link.push(&digits[start..]);
        link.read_link()
    }

    fn read_link(&self) -> Self {
        let mut target = Self::empty();
        let (from, to) = (self.bytes.as_ptr() as i64, target.bytes.as_mut_ptr() as i64);
        // SAFETY: both buffers are valid, the first ends with a zero, and the second has the length that is given.
        let length = unsafe { call(libc::SYS_readlink, [from, to, BYTES_MAX as i64 - 1, 0, 0]) };
        target.length = usize::try_from(length).unwrap_or(0);
        if target.as_bytes().ends_with(b" (deleted)") {
            target.length = 0;
        }
        target
    }

    /// The absolute path of a path relative to a directory.
    ///
    /// # Safety
    ///
    /// `text` must be null or point to bytes that end with a zero.
    pub(crate) unsafe fn named(directory: i64, text: i64) -> Self {
        let text = text as *const libc::c_char;
        if text.is_null() {
            return Self::empty();
        }
        // SAFETY: the caller vouches for the text.
        let text = unsafe { core::ffi::CStr::from_ptr(text) }.to_bytes();
        let mut path = match text.first() {
            Some(b'/') => Self::empty(),
            _ if directory as i32 == libc::AT_FDCWD => {
                let mut link = Self::empty();
                link.push(b"/proc/self/cwd");
                link.read_link()
            }
            _ => Self::of_descriptor(directory),
        };
        if path.length > 0 {
            path.push(b"/");
        }
        path.push(text);
        path
    }
}
