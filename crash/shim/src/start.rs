//! The initialisation of the library, before the program's `main`.

use core::ffi::CStr;

use crate::control::{self, Control};
use crate::{filter, gate, paths, record, trap};

/// The loader calls the functions in this section.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    if let Some(page) = variable(c"TABLEROCK_CRASH_CONTROL") {
        control::install(map(page));
    }
    let Some(folder) = variable(c"TABLEROCK_CRASH_FOLDER") else { return };
    paths::watch(folder.to_bytes());
    if let Some(file) = variable(c"TABLEROCK_CRASH_RECORD") {
        let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
        // SAFETY: the path ends with a zero.
        let descriptor = unsafe { libc::open(file.as_ptr(), flags, 0o644) };
        if descriptor < 0 {
            gate::die(b"the record cannot be opened:", 0);
        }
        record::install(descriptor);
    }
    if !trap::install() || !filter::install() {
        gate::die(b"the kernel does not let us filter system calls:", 0);
    }
}

fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name ends with a zero; nothing changes the environment this early, and values stay where they are.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value))
    }
}

fn map(file: &CStr) -> *mut Control {
    // SAFETY: the path ends with a zero, and the mapping is a new one.
    let page = unsafe {
        let descriptor = libc::open(file.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(core::ptr::null_mut(), size_of::<Control>(), access, libc::MAP_SHARED, descriptor, 0)
    };
    if page == libc::MAP_FAILED {
        gate::die(b"the control page cannot be mapped:", 0);
    }
    page.cast()
}
