#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tablerock_fuzz::field::check(data));
