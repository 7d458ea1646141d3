//! A known entity in both flavours, byte for byte.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tablerock_protocol::Value;
use zeroize::Zeroizing;

use super::cipher::{EntityCipher, Flavour};
use super::error::EncryptionError;
use super::{AesKey, ContentKey, EncryptionPolicy, METADATA_1, METADATA_2};
use crate::Entity;

const ENCRYPTED_KEY: &str = "BG2y71QNRnrBXsTjpkFqQTwxOxr+ztfGnCilKsEAHafbSSuM+GVj3Q==";

fn content_key() -> ContentKey {
    Zeroizing::new((0x00..=0x1f).collect())
}

fn entity_iv() -> [u8; 16] {
    std::array::from_fn(|place| 0xa0 + place as u8)
}

fn policy() -> EncryptionPolicy {
    EncryptionPolicy::new(AesKey::new("local:key1", &[0x11; 32]).unwrap())
}

fn binary(base64: &str) -> Value<'static> {
    Value::Binary(STANDARD.decode(base64).unwrap().into())
}

/// An entity as a library has written it: its values, its list, and how it names itself.
fn written(secret: &str, list: &str, library: &str) -> Entity {
    let data = format!(
        r#"{{"WrappedContentKey":{{"KeyId":"local:key1","EncryptedKey":"{ENCRYPTED_KEY}","Algorithm":"A256KW"}},"EncryptionAgent":{{"Protocol":"1.0","EncryptionAlgorithm":"AES_CBC_256"}},"ContentEncryptionIV":"oKGio6SlpqeoqaqrrK2urw=="{library}}}"#
    );
    let entity = Entity::new("pk1", "rk1").with("Secret", binary(secret)).with("Plain", 1);
    entity.with(METADATA_1, data).with(METADATA_2, binary(list))
}

const DOT_NET: [&str; 2] = ["0vuAIhe/HzsgldWylDxJhw==", "DURZiDJly37GbbkqfShMfwRIR1L+hR2jA3/k8cT9qQw="];
const JAVA: [&str; 2] = ["JIhYHYVxc/O4irEgiM1afA==", "Wg5s6Zum01y0auTSv9cD7w=="];

fn library(name: &str) -> String {
    format!(r#","KeyWrappingMetadata":{{"EncryptionLibrary":"{name}"}}"#)
}

#[test]
fn each_property_has_its_vector_in_both_flavours() {
    for (flavour, property, expected) in [
        (Flavour::DotNet, "Secret", "de3e5159fabe8d54a4fbee1d44ef24ba"),
        (Flavour::Java, "Secret", "fd3e13e6bcbd9478ef671389d03b167f"),
        (Flavour::DotNet, METADATA_2, "f7cc898a559fac44fa52cbc851b728cc"),
        (Flavour::Java, METADATA_2, "8c469ea379eee646b97d44bf82b1a859"),
    ] {
        let (content_key, entity_iv) = (&content_key(), &entity_iv());
        let cipher = EntityCipher { content_key, entity_iv, partition_key: "pk1", row_key: "rk1", flavour };
        let iv: String = cipher.iv(property).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(iv, expected, "{flavour:?} {property}");
    }
}

#[tokio::test]
async fn what_the_libraries_write_is_read_whatever_they_call_themselves() {
    for ([secret, list], library) in [
        (DOT_NET, library(".NET 9.3.3")),
        (DOT_NET, library("Python 1.0.6")),
        (JAVA, library("Java 8.6.6")),
        (JAVA, String::new()),
        // Early versions for .NET have no name either, and a wrong name does not prevent decryption.
        (DOT_NET, String::new()),
        (DOT_NET, library("Java 8.6.6")),
        (JAVA, library(".NET 9.3.3")),
    ] {
        let read = policy().decrypt(written(secret, list, &library)).await.unwrap();
        assert_eq!(read, Entity::new("pk1", "rk1").with("Secret", "hällo").with("Plain", 1), "{library}");
    }
}

#[tokio::test]
async fn what_we_write_is_what_the_libraries_for_dot_net_and_python_write() {
    let mut entity = Entity::new("pk1", "rk1").with("Secret", "hällo").with("Other", "").with("Plain", 1);
    ["Secret", "Other"].into_iter().for_each(|name| entity.mark_encrypted(name));
    let stored = policy().encrypt_with(&entity, &content_key(), entity_iv()).await.unwrap();
    let [secret, list] = DOT_NET;
    assert_eq!((stored.get("Secret"), stored.get(METADATA_2)), (Some(&binary(secret)), Some(&binary(list))));
    assert_eq!(stored.get("Plain"), Some(&Value::Int32(1)));
    let data: String = stored.property(METADATA_1).unwrap();
    assert!(data.starts_with(&format!(
        r#"{{"WrappedContentKey":{{"KeyId":"local:key1","EncryptedKey":"{ENCRYPTED_KEY}","Algorithm":"A256KW"}},"#
    )));
    assert_eq!(policy().decrypt(stored).await.unwrap(), entity);
}

/// If one of the keys is empty, or both are equal, both flavours have the same vector, and only the list of names
/// differs.
#[tokio::test]
async fn who_wrote_is_not_needed_where_keys_join_either_way() {
    for (partition_key, row_key) in [("pk1", ""), ("", "rk1"), ("same", "same")] {
        for list in [r#"["Secret"]"#, "[Secret]"] {
            let (content_key, entity_iv) = (&content_key(), &entity_iv());
            let cipher = EntityCipher { content_key, entity_iv, partition_key, row_key, flavour: Flavour::DotNet };
            let secret = Value::Binary(cipher.encrypt("Secret", "hällo").unwrap().into());
            let list = Value::Binary(cipher.encrypt(METADATA_2, list).unwrap().into());
            let [some_secret, some_list] = DOT_NET;
            let stored = written(some_secret, some_list, "").with("Secret", secret).with(METADATA_2, list);
            let read = policy().decrypt(stored.with_keys(partition_key, row_key)).await.unwrap();
            assert_eq!(read.get("Secret"), Some(&Value::from("hällo")), "{partition_key:?} {row_key:?}");
        }
    }
}

#[tokio::test]
async fn half_of_the_metadata_is_damage() {
    let [secret, list] = DOT_NET;
    for name in [METADATA_1, METADATA_2] {
        let mut half = written(secret, list, &library(".NET 9.3.3"));
        half.remove(name);
        assert!(matches!(policy().decrypt(half).await, Err(EncryptionError::Damaged(_))), "{name}");
    }
}

#[tokio::test]
async fn another_key_other_entity_keys_and_damage_are_told_apart() {
    let [secret, list] = DOT_NET;
    let entity = || written(secret, list, &library(".NET 9.3.3"));
    let stranger = EncryptionPolicy::new(AesKey::new("local:key2", &[0x11; 32]).unwrap());
    assert!(matches!(stranger.decrypt(entity()).await, Err(EncryptionError::UnknownKey(id)) if id == "local:key1"));
    let impostor = EncryptionPolicy::new(AesKey::new("local:key1", &[0x12; 32]).unwrap());
    assert!(matches!(impostor.decrypt(entity()).await, Err(EncryptionError::Key { .. })));
    let moved = entity().with_keys("pk1", "rk2");
    assert!(matches!(policy().decrypt(moved).await, Err(EncryptionError::Damaged(_))));
    let typed = entity().with("Secret", "plain");
    assert!(matches!(policy().decrypt(typed).await, Err(EncryptionError::Damaged(_))));
    let plain = Entity::new("pk1", "rk1").with("Secret", "x");
    assert_eq!(policy().decrypt(plain.clone()).await.unwrap(), plain);
    assert!(matches!(policy().require_encryption().decrypt(plain).await, Err(EncryptionError::NotEncrypted)));
}

#[tokio::test]
async fn only_text_is_encrypted_and_the_reserved_names_are_ours() {
    let mut number = Entity::new("p", "r").with("Secret", 1);
    number.mark_encrypted("Secret");
    assert!(matches!(policy().encrypt(&number).await, Err(EncryptionError::NotAllowed(_))));
    let raw = Entity::new("p", "r").with(METADATA_1, "{}");
    assert!(matches!(policy().encrypt(&raw).await, Err(EncryptionError::NotAllowed(_))));
}
