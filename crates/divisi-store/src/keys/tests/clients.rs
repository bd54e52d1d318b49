//! Whose keys these are: lists of a client's keys, and changes of a key's clients.

use super::*;

/// A disk that counts the reads.
#[derive(Default)]
struct Counted(std::sync::atomic::AtomicUsize);

impl Disk for std::sync::Arc<Counted> {
    fn list(&self, dir: &Path) -> std::io::Result<Vec<String>> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        MachineDisk.list(dir)
    }
    fn read(&self, path: &Path, longest: usize) -> std::io::Result<(zeroize::Zeroizing<Vec<u8>>, u32)> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        MachineDisk.read(path, longest)
    }
    fn sync(&self, _: &Path) -> std::io::Result<()> {
        Ok(())
    }
    fn sync_dir(&self, _: &Path) -> std::io::Result<()> {
        Ok(())
    }
}

/// A client's keys are listed, in the order of their names, and counted without reading the disk, even among
/// 10,000 keys of another client.
#[test]
fn keys_are_listed_and_counted_without_reading_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("keys");
    fs::create_dir(&folder).unwrap();
    let write = |name: &str, maker: &str| {
        let mut key = sample(name);
        (key.info.maker.name, key.info.clients) = (maker.into(), vec![]);
        let path = folder.join(format!("{name}.key"));
        MachineDisk.write(&path, &encode(&key).unwrap()).unwrap();
    };
    (0..10_000).for_each(|i| write(&format!("k{i:05}"), "greedy"));
    ["a", "k05000.x", "z"].iter().for_each(|name| write(name, "modest"));
    let disk = std::sync::Arc::<Counted>::default();
    let keys = StoredKeys::open_on(Box::new(disk.clone()), &folder).unwrap();
    let reads = || disk.0.load(std::sync::atomic::Ordering::SeqCst);
    let before = reads();
    assert!(before >= 10_003);
    let of = |maker: &'static str| move |key: &KeyInfo| key.maker.name == maker;
    let names = |after: Option<&str>, most| {
        let after = after.map(|name| name.parse().unwrap());
        let names = keys.list(after.as_ref(), most, of("modest"));
        names.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names(None, 10), ["a", "k05000.x", "z"]);
    assert_eq!(names(Some("a"), 1), ["k05000.x"]);
    assert!(names(Some("z"), 1).is_empty());
    assert_eq!((keys.count(of("greedy")), keys.count(of("modest"))), (10_000, 3));
    assert_eq!(reads(), before);

    // the index follows what is written, and what is found changed on the disk
    made(&keys, "b");
    assert_eq!(keys.count(of("alice")), 1);
    keys.destroy(&"b".parse().unwrap()).unwrap();
    assert_eq!(keys.count(|key| key.state == KeyState::Destroyed), 1);
    fs::remove_file(folder.join("a.key")).unwrap();
    assert!(keys.load(&"a".parse().unwrap()).unwrap().is_none());
    write("m", "modest");
    assert!(keys.load(&"m".parse().unwrap()).unwrap().is_some());
    assert_eq!(names(None, 10), ["k05000.x", "m", "z"]);
    fs::write(folder.join("m.key"), "no key").unwrap();
    keys.destroy(&"m".parse().unwrap()).unwrap();
    assert_eq!(names(None, 10), ["k05000.x", "z"]);
}

/// A key that is given to others is theirs after the next start, too, and the count of its uses continues. A
/// key that is destroyed, or another one of the same name, is not given away.
#[test]
fn a_key_is_given_to_others() {
    let (dir, keys) = store();
    let name = made(&keys, "k");
    keys.reserve(&name, 5).unwrap();
    let carol = Maker { name: "carol".into(), fingerprint: [9; 32] };
    for other in OTHERS {
        let end = keys.chown(&name, &other, &carol, &[]);
        assert!(matches!(&end, Err(StoreError::Missing(named)) if *named == name), "{end:?}");
    }
    keys.chown(&name, &[1; 16], &carol, &["dave".into()]).unwrap();
    drop(keys);
    let keys = StoredKeys::open(&dir.path().join("keys")).unwrap();
    let key = keys.active(&name, 2).unwrap();
    assert_eq!((key.info.maker, key.info.clients), (carol.clone(), vec!["dave".to_owned()]));
    assert_eq!(key.secret.unwrap().first.as_slice(), [0xaa; 16]);
    assert_eq!((key.reserved, keys.reserve(&name, 1).unwrap()), (BLOCK, BLOCK));
    keys.destroy(&name).unwrap();
    assert!(
        matches!(keys.chown(&name, &[1; 16], &carol, &[]), Err(StoreError::Destroyed(named)) if named == name)
    );
}

/// A change of a key's clients has no effect before it is put in force, outlives a start in between, and goes
/// when it is dropped, with the key, and when the key is given to others. Which keys are being changed is
/// known without their files.
#[test]
fn clients_change_in_two_steps() {
    let (dir, keys) = store();
    let name = made(&keys, "k");
    let (id, next) = ([1; 16], vec!["carol".to_owned()]);
    let clients = |keys: &StoredKeys| keys.load(&name).unwrap().unwrap().info.clients;
    let before = clients(&keys);
    keys.activate_clients(&name, &id).unwrap();
    assert_eq!((clients(&keys), keys.changing()), (before.clone(), vec![]));
    let other = keys.prepare_clients(&name, &[7; 16], Some(&next));
    assert!(matches!(other, Err(StoreError::Missing(named)) if named == name));
    keys.prepare_clients(&name, &id, Some(&next)).unwrap();
    assert_eq!((clients(&keys), keys.changing()), (before.clone(), vec![id]));
    let changing = keys.load(&name).unwrap().unwrap();
    assert_eq!(changing.info.agreed(), sample("k").info.agreed());
    drop(keys);
    let keys = StoredKeys::open(&dir.path().join("keys")).unwrap();
    assert_eq!((keys.changing(), keys.named(&id)), (vec![id], Some(name.clone())));
    assert_eq!(OTHERS.map(|other| keys.named(&other)), [None, None, None]);
    keys.activate_clients(&name, &id).unwrap();
    assert_eq!((clients(&keys), keys.changing()), (next, vec![]));
    // what was to come is what came
    assert_eq!(Some(keys.load(&name).unwrap().unwrap().info.agreed()), changing.agreed_next());
    keys.prepare_clients(&name, &id, Some(&before)).unwrap();
    keys.prepare_clients(&name, &id, None).unwrap();
    keys.activate_clients(&name, &id).unwrap();
    assert_eq!(clients(&keys), ["carol"]);
    keys.prepare_clients(&name, &id, Some(&before)).unwrap();
    let dave = Maker { name: "dave".into(), fingerprint: [9; 32] };
    keys.chown(&name, &id, &dave, &[]).unwrap();
    keys.activate_clients(&name, &id).unwrap();
    assert!(clients(&keys).is_empty());
    keys.prepare_clients(&name, &id, Some(&before)).unwrap();
    keys.destroy(&name).unwrap();
    assert!(keys.changing().is_empty());
    assert!(
        matches!(keys.prepare_clients(&name, &id, None), Err(StoreError::Destroyed(named)) if named == name)
    );
}
