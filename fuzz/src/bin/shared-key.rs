#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tablerock_fuzz::shared_key::check(data));
