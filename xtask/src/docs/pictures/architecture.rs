//! The architecture: clients, the one pipeline, the three services, the store, and where data is kept.

use super::svg::Picture;

const WIDTH: u32 = 820;
const HEIGHT: u32 = 400;

pub(super) fn draw() -> String {
    let mut picture = Picture::new(WIDTH, HEIGHT);
    let clients = ["Microsoft's SDKs", "az, AzCopy, rclone", "Storage Explorer", "tablerock-client"];
    for (name, index) in clients.into_iter().zip(0..) {
        boxed(&mut picture, (20 + index * 198, 20, 186, 34), "box", &[name]);
    }
    picture.line((410, 54), (410, 76));
    picture.text(420, 70, "start", "soft small", "HTTP: ports 10000, 10001, 10002");
    boxed(
        &mut picture,
        (20, 78, 780, 52),
        "core",
        &["server: one pipeline", "parse → authenticate → authorise → decode → call → encode"],
    );
    for (name, index) in [("tables", 0), ("queues", 1), ("blobs", 2)] {
        picture.line((146 + index * 264, 130), (146 + index * 264, 148));
        let what = match name {
            "tables" => "entities, groups, queries",
            "queues" => "messages, visibility",
            _ => "block, append and page blobs",
        };
        boxed(&mut picture, (20 + index * 264, 148, 252, 52), "core", &[&format!("services: {name}"), what]);
        picture.line((146 + index * 264, 200), (146 + index * 264, 218));
    }
    boxed(
        &mut picture,
        (20, 218, 780, 52),
        "core",
        &["kv: ordered keys", "one transaction on one partition; conflicts are retried"],
    );
    let engines = [
        ("kv-local", "a folder: journal, tables, files"),
        ("kv-postgres", "many servers on one database"),
        ("memory", "for tests: --in-memory"),
    ];
    for ((name, what), index) in engines.into_iter().zip(0..) {
        picture.line((146 + index * 264, 270), (146 + index * 264, 288));
        boxed(&mut picture, (20 + index * 264, 288, 252, 52), "box", &[name, what]);
    }
    let note = "A write is acknowledged after the engine has made it durable. Each box is a crate or a module of one.";
    picture.text(20, 372, "start", "soft small", note);
    picture.finish("Clients, the pipeline of the server, three services, the store, three engines")
}

/// A box with one or two lines, of which the first is the name.
fn boxed(picture: &mut Picture, (x, y, width, height): (u32, u32, u32, u32), class: &str, lines: &[&str]) {
    picture.rectangle(x, y, width, height, class);
    let middle = x + width / 2;
    match lines {
        [name, what] => {
            picture.text(middle, y + 22, "middle", "text bold", name);
            picture.text(middle, y + 41, "middle", "soft small", what);
        }
        lines => lines.iter().for_each(|name| picture.text(middle, y + 22, "middle", "text", name)),
    }
}
