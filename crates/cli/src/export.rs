//! `tablerock export`: accounts as text, the same for the same data whatever store it is in.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use tablerock_kv::Store;
use tablerock_services::transfer::{accounts_of, export_account};

use crate::arguments::ExportArguments;
use crate::places::{self, Opening};
use crate::runtime;

const BUFFER_BYTES: usize = 1 << 20;

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), String> {
    let place = places::parse_existing(&arguments.from, "--from")?;
    runtime()?.block_on(async {
        let store = Store::new(places::open(&place, Opening::Existing).await?.0);
        let present = accounts_of(&store).await.map_err(|error| error.to_string())?;
        let accounts = places::chosen(present, &arguments.account)?;
        // Nothing is written before it is known that there is something to write.
        let mut output = output(arguments)?;
        for account in &accounts {
            export_account(&store, account, &mut output).await.map_err(|error| format!("{account}: {error}"))?;
        }
        output.flush().map_err(|error| format!("the export could not be written: {error}"))?;
        store.close().await.map_err(|error| error.to_string())
    })
}

fn output(arguments: &ExportArguments) -> Result<Box<dyn Write + Send>, String> {
    Ok(match &arguments.output {
        Some(path) => {
            let file = File::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            Box::new(BufWriter::with_capacity(BUFFER_BYTES, file))
        }
        None => Box::new(BufWriter::with_capacity(BUFFER_BYTES, io::stdout())),
    })
}
