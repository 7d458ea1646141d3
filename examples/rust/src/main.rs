//! The command line of the to-do service. See `examples/README.md`.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    let development = "UseDevelopmentStorage=true".to_owned();
    let connection_string = std::env::var("AZURE_STORAGE_CONNECTION_STRING").unwrap_or(development);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match tablerock_example_todo::run(&connection_string, &arguments).await {
        Ok(lines) => {
            println!("{}", lines.join("\n"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
