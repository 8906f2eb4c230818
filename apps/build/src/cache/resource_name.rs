//! The names by which `ByteStream` calls blobs.

use std::fmt;

use thiserror::Error;

use crate::digest::{Digest, NotADigest};

/// The name by which `ByteStream` calls a blob.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceName {
    /// The name of the instance, which may have several parts.
    pub instance: String,
    /// The client's name for this upload; none for a read.
    pub upload: Option<String>,
    /// True if the bytes come compressed by zstd.
    pub compressed: bool,
    /// The blob.
    pub digest: Digest,
}

/// The reason that a text is not the name of a blob.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NotAResource {
    /// Other compressions are not offered.
    #[error("blobs are compressed by zstd here, and not by {0:?}")]
    OtherCompressor(String),
    /// Digests of other functions are not offered.
    #[error("digests are of SHA-256 here, and not of {0:?}")]
    OtherFunction(String),
    /// It has another form.
    #[error(
        "not [INSTANCE/][uploads/UUID/]blobs/HASH/SIZE, or compressed-blobs/zstd in place of blobs"
    )]
    Malformed,
    /// The upload's name is empty, or too long, or has strange characters.
    #[error("the part after uploads/ is no UUID")]
    BadUpload,
    /// The hash or the size is not a valid one.
    #[error(transparent)]
    BadDigest(#[from] NotADigest),
}

impl ResourceName {
    /// Parses the name in a read: `{instance}/blobs/{hash}/{size}`, or `compressed-blobs/zstd` in
    /// place of `blobs`.
    ///
    /// # Errors
    /// If it has another form.
    pub fn of_read(name: &str) -> Result<Self, NotAResource> {
        let (instance, keyword, rest) = split(name)?;
        let (compressed, digest, after) = blob(keyword, rest)?;
        if after.is_some() {
            return Err(NotAResource::Malformed);
        }
        Ok(Self {
            instance,
            upload: None,
            compressed,
            digest,
        })
    }

    /// Parses the name in a write: `{instance}/uploads/{uuid}/blobs/{hash}/{size}`, or
    /// `compressed-blobs/zstd` in place of `blobs`; a comment for people may follow.
    ///
    /// # Errors
    /// If it has another form.
    pub fn of_write(name: &str) -> Result<Self, NotAResource> {
        let (instance, keyword, rest) = split(name)?;
        if keyword != "uploads" {
            return Err(NotAResource::Malformed);
        }
        let (upload, rest) = rest.split_once('/').ok_or(NotAResource::Malformed)?;
        let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if upload.is_empty() || upload.len() > 64 || !upload.bytes().all(good) {
            return Err(NotAResource::BadUpload);
        }
        let (keyword, rest) = rest.split_once('/').ok_or(NotAResource::Malformed)?;
        let (compressed, digest, _) = blob(keyword, rest)?;
        Ok(Self {
            instance,
            upload: Some(upload.to_owned()),
            compressed,
            digest,
        })
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.instance.is_empty() {
            write!(f, "{}/", self.instance)?;
        }
        if let Some(upload) = &self.upload {
            write!(f, "uploads/{upload}/")?;
        }
        if self.compressed {
            f.write_str("compressed-blobs/zstd/")?;
        } else {
            f.write_str("blobs/")?;
        }
        self.digest.fmt(f)
    }
}

/// Returns the instance, the first keyword, and what follows it. The protocol forbids keywords as
/// parts of an instance's name.
fn split(name: &str) -> Result<(String, &str, &str), NotAResource> {
    let mut at = 0;
    for part in name.split('/') {
        let end = at + part.len();
        if matches!(part, "blobs" | "compressed-blobs" | "uploads") {
            let instance = name[..at].trim_end_matches('/').to_owned();
            let rest = name.get(end + 1..).ok_or(NotAResource::Malformed)?;
            // `//blobs` and `/blobs` are not the same name as `blobs`.
            let wanted = if instance.is_empty() {
                0
            } else {
                instance.len() + 1
            };
            if at != wanted {
                return Err(NotAResource::Malformed);
            }
            return Ok((instance, part, rest));
        }
        at = end + 1;
    }
    Err(NotAResource::Malformed)
}

/// Parses what follows the keyword: `{hash}/{size}`, or `zstd/{hash}/{size}`. Returns also if it is
/// compressed, and what follows a slash after that.
fn blob<'a>(keyword: &str, text: &'a str) -> Result<(bool, Digest, Option<&'a str>), NotAResource> {
    let parts = |text: &'a str| text.split_once('/').ok_or(NotAResource::Malformed);
    let (compressed, text) = match keyword {
        "blobs" => (false, text),
        "compressed-blobs" => match parts(text)? {
            ("zstd", rest) => (true, rest),
            (other, _) => return Err(NotAResource::OtherCompressor(other.to_owned())),
        },
        _ => return Err(NotAResource::Malformed),
    };
    let (hash, rest) = parts(text)?;
    let functions = "sha1 md5 vso sha384 sha512 murmur3 sha256tree blake3";
    if functions.split(' ').any(|function| function == hash) {
        return Err(NotAResource::OtherFunction(hash.to_owned()));
    }
    let (size, after) = rest
        .split_once('/')
        .map_or((rest, None), |(size, after)| (size, Some(after)));
    // `parse` would accept a sign; -1 is no size.
    let is_number = size.bytes().all(|byte| byte.is_ascii_digit());
    let size = size.parse().ok().filter(|_| is_number).unwrap_or(-1);
    Ok((compressed, Digest::new(hash, size)?, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{NotAResource, ResourceName};
    use crate::digest::Digest;

    fn resource() -> impl Strategy<Value = ResourceName> {
        let instance = prop_oneof![Just(String::new()), "[a-z.]{1,9}(/[a-z0-9 ]{1,9}){0,2}"]
            .prop_filter("a keyword", |name| {
                name.split('/')
                    .all(|part| !part.contains("blobs") && part != "uploads")
            });
        let digest = (any::<[u8; 32]>(), 0..=i64::MAX.unsigned_abs());
        let upload = proptest::option::of("[0-9a-f-]{1,36}");
        let parts = (instance, upload, any::<bool>(), digest);
        parts.prop_map(
            |(instance, upload, compressed, (hash, size))| ResourceName {
                instance,
                upload,
                compressed,
                digest: Digest::from_hash(hash, size),
            },
        )
    }

    proptest! {
        #[test]
        fn a_name_and_its_parts_are_the_same(name in resource()) {
            let text = name.to_string();
            let (same, other) = match name.upload {
                Some(_) => (ResourceName::of_write(&text), ResourceName::of_read(&text)),
                None => (ResourceName::of_read(&text), ResourceName::of_write(&text)),
            };
            prop_assert_eq!(same, Ok(name));
            prop_assert!(other.is_err());
        }

        #[test]
        fn any_text_is_a_name_or_is_not(
            text in "([a-f0-9]{64}|(compressed-)?blobs|zstd|uploads|[.]+|-?[0-9]{1,20}|/|.){0,12}",
        ) {
            let names = [ResourceName::of_read(&text), ResourceName::of_write(&text)];
            for name in names.into_iter().flatten() {
                prop_assert!(text.starts_with(&name.to_string()));
            }
        }
    }

    #[test]
    fn what_follows_an_upload_is_for_people() {
        let name = format!("a/b/uploads/u-1/blobs/{}/file/../name", Digest::EMPTY);
        let name = ResourceName::of_write(&name).unwrap();
        assert_eq!(name.instance, "a/b");
        assert_eq!(name.digest, Digest::EMPTY);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let hex = Digest::EMPTY.hex();
        for (name, why) in [
            (String::new(), NotAResource::Malformed),
            ("blobs".into(), NotAResource::Malformed),
            ("blobs/".into(), NotAResource::Malformed),
            (format!("/blobs/{hex}/0"), NotAResource::Malformed),
            (format!("a//blobs/{hex}/0"), NotAResource::Malformed),
            (format!("blobs/{hex}/0/more"), NotAResource::Malformed),
            (format!("uploads/u/blobs/{hex}/0"), NotAResource::Malformed),
            (
                format!("compressed-blobs/{hex}/0"),
                NotAResource::OtherCompressor(hex.clone()),
            ),
            (
                format!("blobs/blake3/{hex}/0"),
                NotAResource::OtherFunction("blake3".into()),
            ),
        ] {
            assert_eq!(ResourceName::of_read(&name), Err(why), "{name}");
        }
        for digest in [
            "../../../etc/passwd/0".to_owned(),
            format!("../{}/0", &hex[3..]),
            format!("{hex}/99999999999999999999"),
            format!("{}/0", hex.to_uppercase()),
            format!("{hex}/-1"),
            format!("{hex}/+1"),
            format!("{hex}/"),
            format!("{hex}/9223372036854775808"),
        ] {
            for name in [
                format!("blobs/{digest}"),
                format!("uploads/u/blobs/{digest}"),
            ] {
                let read = ResourceName::of_read(&name);
                let write = ResourceName::of_write(&name);
                assert!(read.is_err() && write.is_err(), "{name}");
            }
        }
    }

    #[test]
    fn an_upload_has_a_plain_name() {
        let digest = Digest::EMPTY;
        let long = "u".repeat(65);
        for upload in ["", "a b", "%2e", &long] {
            let name = format!("uploads/{upload}/blobs/{digest}");
            assert_eq!(
                ResourceName::of_write(&name),
                Err(NotAResource::BadUpload),
                "{name}"
            );
        }
        let name = format!("uploads/../blobs/{digest}");
        assert_eq!(ResourceName::of_write(&name), Err(NotAResource::BadUpload));
    }
}
