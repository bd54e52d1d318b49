//! The settings of the engine, from its options.

use divisi_core::Security;
use divisi_engine::EngineSettings;
use divisi_mixed::adders::NumberAdder;
use divisi_ot::SetupConfig;
use divisi_program::adapter::manner::Manner;

#[test]
fn what_does_not_fit_is_refused() {
    let default = EngineSettings { security: Security::SemiHonest, ..EngineSettings::default() };
    assert_eq!(
        Manner::new(&default.clone().among(7)).unwrap(),
        Manner {
            parties: 7,
            config: SetupConfig::default(),
            form: None,
            insecure: false,
            circuits: None,
            adder: None
        }
    );
    assert_eq!(Manner::new(&default.clone().with(Manner::K, 2)).unwrap().config.k, 2);
    for wrong in [
        EngineSettings::default(),
        EngineSettings { threads: 2, ..default.clone() },
        EngineSettings { statistical: Some(40), ..default.clone() },
        default.clone().with(Manner::K, 9),
        default.clone().with(Manner::K, "x"),
        default.clone().with("streamed", ""),
        default.clone().with(Manner::PROTOCOL, "yao"),
        default.clone().with(Manner::ADDER, "ripple"),
    ] {
        assert!(Manner::new(&wrong).is_err());
    }
    let adding = Manner::new(&default.clone().with(Manner::ADDER, "low-depth")).unwrap();
    assert_eq!(adding.adder, Some(NumberAdder::LowDepth));
    assert!(adding.without_adder().is_err());
    let garbled = Manner::new(&default.with(Manner::PROTOCOL, "mpgc")).unwrap();
    assert!(garbled.without_adder().is_ok());
    assert!(garbled.is_garbled() && garbled.of_circuits().is_ok());
    assert!(garbled.without_circuits().is_err());
}
