//! `tablerock export`: accounts as text. Equal data gives equal text, whatever store it is in.

use std::io::{self, BufWriter, Write};

use tablerock_kv::Store;
use tablerock_services::transfer::{accounts_of, export_account};

use crate::arguments::ExportArguments;
use crate::engine::{OpenMode, open_engine};
use crate::store_location::{self, CACHE_BYTES};
use crate::{hint, private_file, runtime};

const BUFFER_BYTES: usize = 1 << 20;

pub(crate) fn run(arguments: &ExportArguments) -> Result<(), String> {
    let location = store_location::parse_existing(&arguments.from, "--from")?;
    runtime()?.block_on(async {
        let store = Store::new(open_engine(&location, CACHE_BYTES, OpenMode::MustExist).await?.engine);
        let present = accounts_of(&store).await.map_err(|error| hint::with_remedy(&error))?;
        let accounts = store_location::select_accounts(present, &arguments.account)?;
        // The output file is created only when there is something to write.
        let mut output = output(arguments)?;
        for account in &accounts {
            let exported = export_account(&store, account, &mut output).await;
            exported.map_err(|error| format!("cannot export account {account}: {}", hint::with_remedy(&error)))?;
        }
        output.flush().map_err(|error| format!("cannot write the export: {error}"))?;
        store.close().await.map_err(|error| hint::with_remedy(&error))
    })
}

fn output(arguments: &ExportArguments) -> Result<Box<dyn Write + Send>, String> {
    Ok(match &arguments.output {
        Some(path) => {
            let file =
                private_file::create(path).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            Box::new(BufWriter::with_capacity(BUFFER_BYTES, file))
        }
        None => Box::new(BufWriter::with_capacity(BUFFER_BYTES, io::stdout())),
    })
}
