//! The settings of the engine, from its options.

use divisi_core::Security;
use divisi_engine::EngineSettings;
use divisi_mixed::adders::NumberAdder;
use divisi_ot::SetupConfig;
use divisi_program::adapter::manner::Manner;

#[test]
fn what_does_not_fit_is_refused() {
    let usual = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() };
    assert_eq!(
        Manner::new(&usual.clone().among(7)).unwrap(),
        Manner {
            parties: 7,
            config: SetupConfig::default(),
            form: None,
            insecure: false,
            circuits: None,
            adder: None
        }
    );
    assert_eq!(Manner::new(&usual.clone().with(Manner::K, 2)).unwrap().config.k, 2);
    for wrong in [
        EngineSettings::default(),
        EngineSettings { threads: 2, ..usual.clone() },
        EngineSettings { statistical: Some(40), ..usual.clone() },
        usual.clone().with(Manner::K, 9),
        usual.clone().with(Manner::K, "x"),
        usual.clone().with("streamed", ""),
        usual.clone().with(Manner::PROTOCOL, "yao"),
        usual.clone().with(Manner::ADDER, "ripple"),
    ] {
        assert!(Manner::new(&wrong).is_err());
    }
    let adding = Manner::new(&usual.clone().with(Manner::ADDER, "low-depth")).unwrap();
    assert_eq!(adding.adder, Some(NumberAdder::LowDepth));
    assert!(adding.without_adder().is_err());
    let garbled = Manner::new(&usual.with(Manner::PROTOCOL, "mpgc")).unwrap();
    assert!(garbled.without_adder().is_ok());
    assert!(garbled.is_garbled() && garbled.of_circuits().is_ok());
    assert!(garbled.without_circuits().is_err());
}
