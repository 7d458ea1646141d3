//! A response that is too large to read fails at once, and the error names the remedy.

use tablerock_client::transport::RESPONSE_BYTES_MAX;
use tablerock_client::{BlobServiceClient, Error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

#[tokio::test]
async fn an_answer_that_is_too_large_is_not_asked_for_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let mut requests = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            requests += 1;
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).await.unwrap();
            let length = RESPONSE_BYTES_MAX + 1;
            let answer = format!("HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-Length: {length}\r\n\r\nbegin");
            stream.write_all(answer.as_bytes()).await.unwrap();
            if requests == 2 {
                break;
            }
        }
        requests
    });
    let text = format!("AccountName=acct;AccountKey=a2V5;BlobEndpoint=http://127.0.0.1:{port}/acct");
    let blob = BlobServiceClient::from_connection_string(&text).unwrap().container("c").blob("b");
    let error = blob.download().await.unwrap_err();
    assert!(matches!(&error, Error::InvalidResponse(why) if why.contains("download_range")), "{error:?}");
    assert!(!error.is_ambiguous());
    // The second request that the server sees is one that is asked for here.
    let error = blob.upload("x").await.unwrap_err();
    assert!(matches!(error, Error::Unconfirmed(_)), "{error:?}");
    assert_eq!(served.await.unwrap(), 2);
}
