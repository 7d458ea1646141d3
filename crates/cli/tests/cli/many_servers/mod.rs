//! Several servers on one database. Where there is no PostgreSQL, `cargo xtask test` leaves out whatever has `on_postgres` in
//! its path.

mod on_postgres;
