//! The options of `filch-build serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::auth::Tokens;
use super::config::{Certificate, Config};
use super::error::StartError;
use crate::cache::CacheConfig;
use crate::farm::FarmConfig;
use crate::storage::{Limits, Location};

/// The options of `filch-build serve`.
#[derive(Debug, Clone, Args)]
pub struct ServeArguments {
    /// The address to listen on, for gRPC and HTTP together
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8980")]
    listen: SocketAddr,
    /// The place of blobs and results: `disk:PATH`, `memory`,
    /// `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`, `rediss://` with TLS,
    /// `redis+unix:///SOCKET` or `s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME]`; the keys of S3
    /// are in the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`
    #[arg(long, value_name = "WHERE", default_value = "disk:filch-cache")]
    storage: Location,
    /// The most that the storage may take of a disk, as 500M or 10G; beyond that, it forgets what
    /// was not used for the longest time
    #[arg(long, value_name = "SIZE", default_value = "10G", value_parser = size)]
    storage_limit: u64,
    /// The largest size of a blob
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = size)]
    blob_limit: u64,
    /// The name of the only instance
    #[arg(long, value_name = "NAME", default_value = "", value_parser = instance)]
    instance: String,
    /// Let no client store results of actions: only what workers have run is in the cache
    #[arg(long)]
    no_updates: bool,
    /// A file with the token that clients must send
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A file with a token that only allows reading
    #[arg(long, value_name = "FILE", requires = "token_file")]
    read_token_file: Option<PathBuf>,
    /// The server's certificate, in the PEM format: switches TLS on
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in the PEM format
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A property of the workers' platform, as `OSFamily=linux`; an action that asks for another
    /// one is refused
    #[arg(long, value_name = "NAME=VALUE", value_parser = property)]
    platform: Vec<(String, String)>,
    /// The milliseconds for which an action waits for a worker that has its larger inputs
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 50)]
    patience: u64,
    /// An input of this size makes a worker that has it worth waiting for
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = size)]
    near_size: u64,
    /// The seconds for which running work may go on after the server was asked to end
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
}

impl ServeArguments {
    /// Makes the server's settings of them.
    ///
    /// # Errors
    /// If a file with a token cannot be read or has none.
    pub fn config(self) -> Result<Config, StartError> {
        let tokens = match &self.token_file {
            Some(file) => Some(Tokens::read(file, self.read_token_file.as_deref())?),
            None => None,
        };
        let certificate = match (self.tls_cert, self.tls_key) {
            (Some(chain), Some(key)) => Some(Certificate { chain, key }),
            _ => None,
        };
        Ok(Config {
            listen: self.listen,
            storage: self.storage,
            limits: Limits {
                blob: self.blob_limit,
                disk: self.storage_limit,
            },
            cache: CacheConfig {
                instance: self.instance,
                updates: !self.no_updates,
                ..CacheConfig::default()
            },
            farm: FarmConfig {
                platform: self.platform,
                patience: Duration::from_millis(self.patience),
                near_size: self.near_size,
                ..FarmConfig::default()
            },
            tokens,
            certificate,
            grace: Duration::from_secs(self.grace),
        })
    }
}

/// Parses a number of bytes, with a unit or without.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|unit: char| !unit.is_ascii_digit());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        unit => return Err(format!("{unit:?} is none of the units K, M, G, T")),
    };
    let number: u64 = digits.parse().map_err(|error| format!("{error}"))?;
    match number.checked_mul(1 << shift) {
        Some(0) | None => Err("out of range".into()),
        Some(size) => Ok(size),
    }
}

fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("not NAME=VALUE".into()),
    }
}

/// Checks an instance's name: the protocol reserves the keywords of resource names.
fn instance(text: &str) -> Result<String, String> {
    let keywords = [
        "blobs",
        "uploads",
        "actions",
        "actionResults",
        "operations",
        "capabilities",
        "compressed-blobs",
    ];
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(good) && part != ".." && !keywords.contains(&part)
    };
    if text.is_empty() || text.split('/').all(part) {
        return Ok(text.to_owned());
    }
    Err(
        "letters, digits, - _ . and / between parts, none of which is a word of the protocol"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::{instance, size};

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("17"), Ok(17));
        assert_eq!(size("3K"), Ok(3 << 10));
        assert_eq!(size("2G"), Ok(2 << 30));
        for text in ["", "G", "0", "-1", "1.5G", "1X", "99999999999T", "1é"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_instance_is_no_keyword() {
        assert!(instance("").is_ok() && instance("a/b.c").is_ok());
        for text in ["/", "a/", "blobs", "a/uploads", "..", "a b", "{x}"] {
            assert!(instance(text).is_err(), "{text}");
        }
    }
}
