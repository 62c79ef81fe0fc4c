//! Addresses of pages: what is accepted, by which name rules speak of it, and which addresses are private.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// An address that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) url: Url,
    /// The host as rules name it: in small letters, without a final dot, with the port where that is not the usual one.
    pub(crate) host: String,
}

impl Address {
    /// Reads an address, or says why it cannot be asked for. The host is read as browsers read it, so that `http://2130706433` is
    /// 127.0.0.1 here as well.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err("the address holds control characters".to_owned());
        }
        let url =
            Url::parse(text).map_err(|error| format!("'{text}' is no address ({error}); write https://host/path"))?;
        Self::of(url)
    }

    /// The same for an address that was read.
    pub(crate) fn of(mut url: Url) -> Result<Self, String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("{}: is not read, only http and https are", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("an address with a user name or password is not read".to_owned());
        }
        let name = match url.host() {
            Some(Host::Domain(name)) => name.trim_end_matches('.').to_owned(),
            Some(other) => other.to_string(),
            None => return Err("the address has no host".to_owned()),
        };
        if name.is_empty() {
            return Err("the address has no host".to_owned());
        }
        if url.host_str() != Some(&name) {
            url.set_host(Some(&name)).map_err(|_| "the address has no valid host".to_owned())?;
        }
        url.set_fragment(None);
        let host = match url.port() {
            Some(port) => format!("{name}:{port}"),
            None => name,
        };
        Ok(Self { url, host })
    }

    /// Whether the host is one of these, with or without its port.
    pub(crate) fn is_one_of(&self, hosts: &[String]) -> bool {
        let name = self.url.host_str().unwrap_or_default();
        hosts.iter().any(|host| host.eq_ignore_ascii_case(&self.host) || host.eq_ignore_ascii_case(name))
    }

    /// The address of the host, where the host is one.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }
}

/// Whether an address is not one of the public network: of this machine, of a local network, or reserved.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => is_private_v6(address),
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by the customers of a provider, and used by clouds for their own services.
        || (a == 100 && (64..128).contains(&b))
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        || (a == 198 && (b == 18 || b == 19))
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    // Forms in which an address of version 4 is written, or passed on to.
    let inner = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_private_v4(Ipv4Addr::new(a, b, c, d))
    };
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => return inner(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return inner(high, low),
        [0x2002, high, low, ..] => return inner(high, low),
        _ => {}
    }
    // Only 2000::/3 is in use for the public network. Of it: tunnels, documentation and benchmarks.
    parts[0] & 0xe000 != 0x2000
        || (parts[0] == 0x2001 && parts[1] < 0x0200)
        || (parts[0] == 0x2001 && parts[1] == 0x0db8)
        || parts[0] == 0x3fff
}

#[cfg(test)]
mod tests {
    use super::*;

    // T36
    #[test]
    fn the_host_that_rules_see_is_the_host_that_is_asked() {
        for (text, host) in [
            ("https://Docs.RS/x#part", "docs.rs"),
            ("https://docs.rs./x", "docs.rs"),
            ("https://docs.rs:443/", "docs.rs"),
            ("https://docs.rs:8443/", "docs.rs:8443"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
            ("https://docs.rs\\@evil.example/", "docs.rs"),
            ("https://evil.example/?x=docs.rs", "evil.example"),
        ] {
            let address = Address::parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(address.host, host, "{text}");
            assert_eq!(address.url.host_str(), host.rsplit_once(":8443").map_or(Some(host), |(host, _)| Some(host)));
        }
    }

    // T36
    #[test]
    fn an_address_that_could_be_read_in_two_ways_is_refused() {
        for text in [
            "https://evil\0.docs.rs/",
            "https://evil%00.docs.rs/",
            "https://docs.rs@evil.example/",
            "https://user:secret@docs.rs/",
            "file:///etc/passwd",
            "ftp://docs.rs/",
            "javascript:alert(1)",
            "data:text/html,x",
            "docs.rs",
            "https://",
            "https://./",
            "https://a b/",
            "https://docs.rs/\r\nHost: evil.example",
        ] {
            assert!(Address::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn private_addresses_are_known_in_every_form() {
        for text in [
            "127.0.0.1",
            "127.9.9.9",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.8",
            "240.0.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "::ffff:127.0.0.1",
            "::10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fec0::1",
        ] {
            assert!(is_private(text.parse().expect("an address")), "{text}");
        }
        for text in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
            "64:ff9b::101:101",
        ] {
            assert!(!is_private(text.parse().expect("an address")), "{text}");
        }
    }
}
