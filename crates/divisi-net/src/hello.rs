//! The greeting: the first message each way on every connection, of fixed length.

use crate::config::IdentityDigest;
use crate::world::World;
use std::ops::RangeInclusive;

/// The versions of the link protocol that this program speaks. In version 3 the end of a session says because
/// of whom; version 2 ignores that.
pub(crate) const VERSIONS: RangeInclusive<u16> = 2..=3;
/// The length of a greeting.
pub(crate) const HELLO: usize = 89;
const MAGIC: [u8; 8] = *b"divisi\r\n";

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A link of the mesh.
    Party,
    /// A client's requests.
    Client,
    /// A test whether the link works.
    Check,
}

/// The accepting end's judgement of a greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Welcome.
    Fine,
    /// No common version.
    Version,
    /// Another configuration.
    Digest,
    /// One end emulates a network and the other does not.
    Emulation,
    /// The identity is not the one that is pinned for the role and number in the greeting.
    Role,
    /// The greeting is meant for another party.
    NotMe,
    /// No room.
    Busy,
}

const VERDICTS: [Verdict; 7] = [
    Verdict::Fine,
    Verdict::Version,
    Verdict::Digest,
    Verdict::Emulation,
    Verdict::Role,
    Verdict::NotMe,
    Verdict::Busy,
];
const ROLES: [Role; 3] = [Role::Party, Role::Client, Role::Check];

/// A greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub versions: (u16, u16),
    pub role: Role,
    /// The sender's party number, or 0.
    pub me: u8,
    /// The party number that the sender believes it speaks to, or 0.
    pub to: u8,
    pub emulated: bool,
    /// [`crate::Config::digest`].
    pub digest: IdentityDigest,
    /// The sender's clock, in milliseconds since 1970.
    pub unix_ms: u64,
    /// Fresh for each connection.
    pub nonce: [u8; 16],
    /// In an answer, the nonce of the greeting that is answered: a connection that is half open from an
    /// earlier attempt cannot give it.
    pub echo: [u8; 16],
    pub verdict: Verdict,
}

impl Hello {
    /// A greeting of this program, with a fresh nonce.
    pub fn new(role: Role, me: u8, to: u8, digest: IdentityDigest, world: &dyn World) -> Self {
        let mut nonce = [0; 16];
        world.entropy(&mut nonce);
        Self {
            versions: (*VERSIONS.start(), *VERSIONS.end()),
            role,
            me,
            to,
            emulated: false,
            digest,
            unix_ms: u64::try_from(world.unix_time().as_millis()).unwrap_or(u64::MAX),
            nonce,
            echo: [0; 16],
            verdict: Verdict::Fine,
        }
    }

    /// Whether both ends speak a common version.
    pub fn speaks_ours(&self) -> bool {
        self.versions.0 <= *VERSIONS.end() && self.versions.1 >= *VERSIONS.start()
    }

    pub fn encode(&self) -> [u8; HELLO] {
        let role = ROLES.iter().position(|r| *r == self.role).unwrap_or_default() as u8;
        let verdict = VERDICTS.iter().position(|v| *v == self.verdict).unwrap_or_default() as u8;
        let parts: [&[u8]; 10] = [
            &MAGIC,
            &self.versions.0.to_le_bytes(),
            &self.versions.1.to_le_bytes(),
            &[role, self.me, self.to, u8::from(self.emulated)],
            &self.digest.parties,
            &self.digest.clients,
            &self.unix_ms.to_le_bytes(),
            &self.nonce,
            &self.echo,
            &[verdict],
        ];
        let mut out = [0; HELLO];
        for (to, from) in out.iter_mut().zip(parts.iter().flat_map(|p| p.iter())) {
            *to = *from;
        }
        out
    }

    /// Decodes a greeting; `None` if the bytes are none.
    pub fn decode(bytes: &[u8; HELLO]) -> Option<Self> {
        let mut rest = &bytes[..];
        let (magic, versions) = (take::<8>(&mut rest)?, (take::<2>(&mut rest)?, take::<2>(&mut rest)?));
        let [role, me, to, emulated] = take::<4>(&mut rest)?;
        let (parties, clients) = (take::<16>(&mut rest)?, take::<16>(&mut rest)?);
        let unix_ms = take::<8>(&mut rest)?;
        let (nonce, echo, [verdict]) =
            (take::<16>(&mut rest)?, take::<16>(&mut rest)?, take::<1>(&mut rest)?);
        let hello = Self {
            versions: (u16::from_le_bytes(versions.0), u16::from_le_bytes(versions.1)),
            role: *ROLES.get(usize::from(role))?,
            me,
            to,
            emulated: emulated == 1,
            digest: IdentityDigest { parties, clients },
            unix_ms: u64::from_le_bytes(unix_ms),
            nonce,
            echo,
            verdict: *VERDICTS.get(usize::from(verdict))?,
        };
        (magic == MAGIC && emulated <= 1).then_some(hello)
    }
}

/// The next `N` bytes.
pub(crate) fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_at_checked(N)?;
    *rest = tail;
    head.try_into().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::world::FixedWorld;
    use proptest::prelude::*;

    #[test]
    fn golden_bytes() {
        let digest = IdentityDigest { parties: [7; 16], clients: [8; 16] };
        let mut hello = Hello::new(Role::Client, 0, 2, digest, &FixedWorld);
        hello.verdict = Verdict::Digest;
        let expected = [
            "6469766973690d0a",
            "02000300",
            "01000200",
            &"07".repeat(16),
            &"08".repeat(16),
            "0201000000000000",
            &"09".repeat(16),
            &"00".repeat(16),
            "02",
        ]
        .concat();
        assert_eq!(hex::encode(hello.encode()), expected);
        assert_eq!(Hello::decode(&hello.encode()), Some(hello));
    }

    #[test]
    fn each_role_and_verdict_comes_back() {
        let digest = IdentityDigest { parties: [7; 16], clients: [8; 16] };
        for (role, verdict) in ROLES.iter().flat_map(|role| VERDICTS.map(|verdict| (*role, verdict))) {
            let hello = Hello { verdict, ..Hello::new(role, 1, 2, digest, &FixedWorld) };
            assert_eq!(Hello::decode(&hello.encode()), Some(hello));
        }
    }

    /// Every bit of a nonce is drawn.
    #[test]
    fn nonces_have_no_bit_that_stays() {
        let digest = IdentityDigest { parties: [7; 16], clients: [8; 16] };
        let nonce = || Hello::new(Role::Party, 1, 2, digest, &crate::Machine).nonce.to_vec();
        crate::world::assert_drawn(nonce);
    }

    /// Two ends understand each other if their ranges of versions meet.
    #[test]
    fn versions_have_to_meet() {
        for (versions, meet) in
            [((0, 1), false), ((1, 2), true), ((2, 2), true), ((3, 9), true), ((4, 9), false)]
        {
            let digest = IdentityDigest { parties: [7; 16], clients: [8; 16] };
            let hello = Hello { versions, ..Hello::new(Role::Party, 1, 2, digest, &FixedWorld) };
            assert_eq!(hello.speaks_ours(), meet, "{versions:?}");
        }
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in proptest::collection::vec(any::<u8>(), HELLO), magic: bool) {
            let mut bytes: [u8; HELLO] = bytes.try_into().unwrap();
            if magic {
                bytes[..8].copy_from_slice(&MAGIC);
            }
            if let Some(hello) = Hello::decode(&bytes) {
                prop_assert_eq!(hello.encode(), bytes);
            }
        }
    }
}
